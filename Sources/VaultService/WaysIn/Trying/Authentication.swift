internal import VaultCore
internal import VaultModel
internal import VaultStore

/// A person's proof of the right to unlock the vault, given in a conversation.
///
/// The methods are tried in order. A method that is not possible now, or that fails, is passed over for the next, and
/// the person is told. The authentication ends with a slot that was opened, a dismissal, or the failure of the last
/// method. The methods are in extensions, one file each.
final class Authentication {
  unowned let ways: WaysIn
  let conversation: Conversation
  let keychain: Keychain
  let purpose: Purpose
  private var kinds: [SlotKind]
  private let then: (_ vaultKey: Handover, _ slot: SlotRecord) -> Void

  init(
    _ ways: WaysIn, _ conversation: Conversation, _ keychain: Keychain, kinds: [SlotKind], purpose: Purpose,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    self.ways = ways
    self.conversation = conversation
    self.keychain = keychain
    self.kinds = kinds
    self.purpose = purpose
    self.then = then
  }

  /// The caller against whom failed attempts count.
  func caller(_ kind: SlotKind) -> Backoff.Source {
    Backoff.Source(uid: conversation.caller.uid, method: kind.name)
  }

  func slots(_ kind: SlotKind) -> [SlotRecord] { keychain.triedSlots(kind) }

  /// Begins with the first method.
  func start() { goOn(after: .unavailable("", "the vault has no slot for it")) }

  /// Tries the next method, or ends with the refusal of the last one.
  func goOn(after refusal: Refusal) {
    guard !conversation.isOver else { return }
    guard let kind = kinds.first else { return conversation.fail(refusal) }
    kinds.removeFirst()
    if let obstacle = ways.obstacle(to: kind, keychain, uid: conversation.caller.uid, mayWait: true) {
      tell(kind, obstacle)
      return goOn(after: obstacle)
    }
    switch kind.facts.secret {
    case .presenceKey: provePresence()
    case .password, .code: proveSecret(kind)
    }
  }

  /// Tells the person that a method has failed, and tries the next one.
  func passedOver(_ kind: SlotKind, _ refusal: Refusal) {
    tell(kind, refusal)
    goOn(after: refusal)
  }

  func succeed(_ vaultKey: Handover, _ slot: SlotRecord) {
    guard conversation.mayConclude else { return }
    conversation.willWipe(vaultKey)
    // The store may have been reopened since the prompt.
    guard ways.vault.openKeychain === keychain else { return conversation.fail(.cancelled) }
    // A slot that was removed or replaced opens as before if somebody puts it back into the store. So every proof is
    // checked here, once, for every purpose, and the operation that it allows begins in the same turn of the loop.
    do throws(VaultError) {
      try vaultKey.withSecret { (key: borrowing SecureBytes) throws(VaultError) in
        try keychain.check(slot, vaultKey: key)
      }
    } catch { return conversation.fail(Refusal(error)) }
    conversation.proof = slot
    then(vaultKey, slot)
  }

  private func tell(_ kind: SlotKind, _ refusal: Refusal) {
    guard let next = kinds.first else { return }
    conversation.tell(.info, method: kind.name, text: refusal.obstacle.sentence(otherwise: next))
  }
}

extension Obstacle {
  /// The obstacle, with the advice to use another secret instead.
  func sentence(otherwise next: SlotKind) -> String {
    // Some obstacles have this advice already.
    let secret = next.facts.secretName
    let advice = "use your \(secret)"
    return self.advice == advice ? "\(reason); \(advice)" : "\(Clauses.ended(sentence)) Try your \(secret)."
  }
}
