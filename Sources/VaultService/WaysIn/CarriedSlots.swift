internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The ways into a vault that gets a new key: each slot is made again for that key, with the same number, as far as what
/// it takes is at hand.
///
/// The slot that the right was proven with takes what was typed then. Other passwords are asked for, and an empty answer
/// leaves the slot out, unless nothing else that lasts comes along; a stale slot is left out unasked. A recovery code is
/// known to its owner alone, so a new one takes its place. A PAM slot gets a new key in its keystore, beside the old one,
/// which opens the vault until the end.
final class CarriedSlots {
  private static let tries = 3

  private let ways: WaysIn
  private let conversation: Conversation
  private let keychain: Keychain
  private let opened: SlotRecord
  private let secret: Handover
  /// The slots there were when the right was proven: the new ones are made from these.
  let carried: [SlotRecord]
  /// The new vault key.
  let nextKey = Handover(RandomBytes.secret(count: 32))
  /// The new slots.
  private(set) var made: [SlotRecord] = []
  /// The slots that do not come along.
  private(set) var leftOut: [UInt32] = []
  private var then: ((CarriedSlots) -> Void)?

  /// - Parameters:
  ///   - opened: the slot that `secret` has opened.
  init(
    _ ways: WaysIn, _ conversation: Conversation, _ keychain: Keychain, opened: SlotRecord, secret: Handover
  ) {
    self.ways = ways
    self.conversation = conversation
    self.keychain = keychain
    self.opened = opened
    self.secret = secret
    carried = keychain.slots
    conversation.willWipe(nextKey)
  }

  /// Makes them one after the other; `then` comes when all that can be made are there.
  func make(then: @escaping (CarriedSlots) -> Void) {
    self.then = then
    // A conversation that ends has no use for keys in keystores.
    conversation.onEnd = { [self] _ in drop() }
    leftOut = keychain.damagedSlots
    goOn(carried[...])
  }

  /// They have become the slots of a store: their keys stay.
  func keep() { conversation.onEnd = nil }

  private func drop() {
    then = nil
    for slot in made { ways.dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
    made = []
  }

  private func goOn(_ rest: ArraySlice<SlotRecord>) {
    guard !conversation.isOver else { return drop() }
    guard let slot = rest.first else {
      let then = then
      self.then = nil
      then?(self)
      return
    }
    let rest = rest.dropFirst()
    guard slot.id != opened.id else { return remake(slot, secret, rest) }
    switch slot.kind {
    case .password, .login: ask(slot, rest)
    case .recovery: newCode(slot, rest)
    case .pam: presence(slot, rest)
    }
  }

  private func add(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) {
    made.append(slot)
    goOn(rest)
  }

  private func leaveOut(_ slot: SlotRecord, because reason: String, _ rest: ArraySlice<SlotRecord>) {
    leftOut.append(slot.id)
    conversation.tell(.info, method: slot.kind.name, text: "slot \(slot.id) does not come along: \(reason)")
    goOn(rest)
  }

  // MARK: What people know

  /// True when nothing that lasts would open the new vault without `slot`, counting the slots made so far and the `rest`.
  private func isNeeded(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) -> Bool {
    slot.kind.isLasting && !(made + rest).contains { $0.kind.isLasting }
  }

  /// A password that is not given leaves its slot out, or ends it all.
  private func goOn(without slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) {
    if isNeeded(slot, rest) { return conversation.fail(.lastSlot) }
    leaveOut(slot, because: "its password was not given", rest)
  }

  private func ask(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>, tries: Int = 1) {
    guard keychain.triedSlots(slot.kind).contains(slot) else {
      return leaveOut(slot, because: "the login password was changed without the vault", rest)
    }
    let caller = Backoff.Source(uid: conversation.caller.uid, method: slot.kind.name)
    if case .backingOff(_, let milliseconds)? = ways.attempts.wait(for: caller) {
      let wait = (milliseconds + 999) / 1000
      conversation.tell(.info, method: slot.kind.name, text: "after a wrong answer the next question waits \(wait) s")
      _ = ways.timer.after(Int64(milliseconds) * 1_000_000) { [weak self, weak conversation] in
        if conversation?.isOver == false { self?.ask(slot, rest, tries: tries) }
      }
      return
    }
    let label = slot.label.isEmpty ? "" : ", \(slot.label)"
    let what = "\(slot.kind == .login ? "Login password" : "Vault password") of slot \(slot.id)\(label)"
    let choice = isNeeded(slot, rest) ? "nothing else that lasts would open the vault" : "empty leaves it out"
    let text = "\(tries > 1 ? "That is not it. " : "")\(what), to keep it (\(choice))"
    conversation.ask(.secret, method: slot.kind.name, text: text) { [self] typed in
      guard typed.count > 0 else { return goOn(without: slot, rest) }
      // Asked again, because it may have become stale since the prompt.
      guard keychain.triedSlots(slot.kind).contains(slot) else { return ask(slot, rest) }
      let kept = Handover(typed.withBytes { SecureBytes(copying: $0) })
      conversation.willWipe(kept)
      // Otherwise a slip of the finger would become the password. It is an attempt to guess like any other.
      ways.open([slot], vaultID: keychain.vaultID, with: typed, by: caller, for: conversation) { [self] opened in
        guard !conversation.isOver else { return drop() }
        switch opened {
        case .success(let opened):
          _ = opened.vaultKey.take()
          remake(slot, kept, rest)
        case .failure(.backingOff): ask(slot, rest, tries: tries)
        case .failure(.authenticationFailed):
          guard tries < Self.tries else { return goOn(without: slot, rest) }
          ask(slot, rest, tries: tries + 1)
        case .failure(let refusal): conversation.fail(refusal)
        }
      }
    }
  }

  private func remake(_ slot: SlotRecord, _ secret: Handover, _ rest: ArraySlice<SlotRecord>) {
    // Their own: the conversation's are wiped when that ends, and the worker may still be at it then.
    guard let key = nextKey.copy(), let secret = secret.copy() else { return conversation.fail(.cancelled) }
    let vaultID = keychain.vaultID
    let isAtWork = ways.derive(for: conversation) { cancellation -> Result<SlotRecord, CryptoError>? in
      if cancellation.isCancelled { return nil }
      return key.withSecret { key in
        secret.withSecret { secret in
          do throws(CryptoError) {
            return .success(
              try SlotRecord.make(
                id: slot.id, kind: slot.kind, label: slot.label, created: slot.created, secret: secret, kdf: slot.kdf,
                vaultKey: key, vaultID: vaultID))
          } catch {
            return .failure(error)
          }
        }
      } ?? nil
    } then: { [self] made in
      guard !conversation.isOver else { return drop() }
      switch made {
      case .success(let new): add(new, rest)
      case .failure(let error): conversation.fail(Refusal(error))
      case nil: conversation.fail(.cancelled)
      }
    }
    if !isAtWork { conversation.fail(.backingOff(method: slot.kind.name, wait: 1000)) }
  }

  private func newCode(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) {
    let text = "slot \(slot.id) gets a new recovery code; the old one will not open the vault any more"
    conversation.tell(.info, method: slot.kind.name, text: text)
    let new = NewSlot(
      ways: ways, conversation: conversation, id: slot.id, label: slot.label, vaultKey: nextKey,
      vaultID: keychain.vaultID)
    new.recoveryCode { [self] in add($0, rest) }
  }

  // MARK: What keystores hold

  private func presence(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) {
    guard let terms = slot.terms, let keystore = KeystoreKind(rawValue: terms.keystore) else {
      return leaveOut(slot, because: "this program does not know its keystore", rest)
    }
    let giveUp = ways.makePresenceSlot(
      id: slot.id, label: slot.label, created: slot.created, keystore, users: terms.users, fingers: terms.fingers,
      vaultKey: nextKey, vaultID: keychain.vaultID
    ) { [self] made in
      switch made {
      case .success(let new): add(new, rest)
      case .failure(let refusal):
        guard !conversation.isOver else { return drop() }
        leaveOut(slot, because: refusal.obstacle.sentence, rest)
      }
    }
    conversation.willCallOff(giveUp)
  }
}
