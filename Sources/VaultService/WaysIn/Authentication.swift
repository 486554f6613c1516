internal import VaultCore
internal import VaultModel
internal import VaultStore

/// One person's proof of the right to the vault, held over a conversation.
///
/// It tries its methods in their order: one that is not possible now, or that says no, is passed over for the next, and
/// the person is told. What ends it is a slot that opened, a dismissal, or the last method's fault. The methods are in
/// extensions, one file each.
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

  /// The caller who is held to account for what fails.
  func caller(_ kind: SlotKind) -> Backoff.Source {
    Backoff.Source(uid: conversation.caller.uid, method: kind.name)
  }

  func slots(_ kind: SlotKind) -> [SlotRecord] { keychain.triedSlots(kind) }

  /// Begins with the first method.
  func start() { goOn(after: .unavailable("", "the vault has no slot for it")) }

  /// Takes the next method, or ends with what came of the last one.
  func goOn(after refusal: Refusal) {
    guard !conversation.isOver else { return }
    guard let kind = kinds.first else { return conversation.fail(refusal) }
    kinds.removeFirst()
    if let obstacle = ways.obstacle(to: kind, keychain, uid: conversation.caller.uid) {
      tell(kind, obstacle)
      return goOn(after: obstacle)
    }
    switch kind {
    case .pam: provePresence()
    case .password, .recovery, .login: proveSecret(kind)
    }
  }

  /// The outcome of one method, before another one is tried.
  func passedOver(_ kind: SlotKind, _ refusal: Refusal) {
    tell(kind, refusal)
    goOn(after: refusal)
  }

  func succeed(_ vaultKey: Handover, _ slot: SlotRecord) {
    guard conversation.mayConclude else { return }
    conversation.willWipe(vaultKey)
    // The store may have been opened anew since the prompt.
    guard ways.vault.openKeychain === keychain else { return conversation.fail(.cancelled) }
    // A slot that was removed or replaced, and that somebody put back into the store, opens as it did before. Whatever the
    // proof is for, it is judged here, once, and what follows begins in the same turn of the loop.
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
  /// It, and what is asked for instead.
  func sentence(otherwise next: SlotKind) -> String {
    // Some advise that already.
    let advice = "use your \(next.secretName)"
    return self.advice == advice ? "\(reason); \(advice)" : "\(Clauses.ended(sentence)) Try your \(next.secretName)."
  }
}

extension SlotKind {
  /// The secret that a person types for it, as a prompt and the log call it.
  var secretName: String {
    switch self {
    case .password: "vault password"
    case .recovery: "recovery code"
    case .pam: "fingerprint or login password"
    case .login: "login password"
    }
  }
}
