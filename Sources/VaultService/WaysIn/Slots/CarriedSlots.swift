internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The slots that a vault carries over to a new key. Each slot is made again for that key, with the same number, if its
/// secret or key is available.
///
/// The slot that proved the right is made again with the secret that was typed as the proof. Other passwords are asked
/// for. An empty answer leaves the slot out, unless no other lasting slot is carried over. A stale slot is left out
/// without a question. Only the owner knows a recovery code, so it is replaced by a new one. A PAM slot gets a new key
/// in its keystore, beside the old key, which opens the vault until the end of the rekey.
final class CarriedSlots {
  private static let tries = 3

  private let ways: WaysIn
  private let conversation: Conversation
  private let keychain: Keychain
  private let opened: SlotRecord
  private let secret: Handover
  /// The slots at the time of the proof, from which the new slots are made.
  let carried: [SlotRecord]
  /// The new vault key.
  let nextKey = Handover(RandomBytes.secret(count: 32))
  /// The new slots that are made so far.
  private(set) var made: [SlotRecord] = []
  /// The numbers of the slots that are not carried over.
  private(set) var leftOut: [UInt32] = []
  private var then: ((CarriedSlots) -> Void)?

  /// - Parameter opened: the slot that `secret` has opened.
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

  /// Makes the slots one after the other; `then` is called when all that can be made are made.
  func make(then: @escaping (CarriedSlots) -> Void) {
    self.then = then
    // If the conversation ends, the new keys in keystores are of no use.
    conversation.onEnd = { [self] _ in drop() }
    leftOut = keychain.damagedSlots
    goOn(carried[...])
  }

  /// Notes that the slots were stored, so that their keys stay.
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
    switch slot.kind.facts.secret {
    case .password: ask(slot, rest)
    case .code: newCode(slot, rest)
    case .presenceKey: presence(slot, rest)
    }
  }

  private func add(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) {
    made.append(slot)
    goOn(rest)
  }

  private func leaveOut(_ slot: SlotRecord, because reason: String, _ rest: ArraySlice<SlotRecord>) {
    leftOut.append(slot.id)
    conversation.tell(.info, method: slot.kind.name, text: "slot \(slot.id) is left out: \(reason)")
    goOn(rest)
  }

  // MARK: Secrets that people know

  /// True if no lasting slot would open the new vault without `slot`, counting the slots made so far and the `rest`.
  private func isNeeded(_ slot: SlotRecord, _ rest: ArraySlice<SlotRecord>) -> Bool {
    slot.kind.facts.isLasting && !(made + rest).contains(where: \.kind.facts.isLasting)
  }

  /// Leaves out a slot whose password was not given, or ends the conversation if the slot is needed.
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
      conversation.tell(
        .info, method: slot.kind.name, text: "an answer was wrong; the next question comes in \(wait) s")
      _ = ways.timer.after(Int64(milliseconds) * 1_000_000) { [weak self, weak conversation] in
        if conversation?.isOver == false { self?.ask(slot, rest, tries: tries) }
      }
      return
    }
    let label = slot.label.isEmpty ? "" : ", \(slot.label)"
    let what = "\(slot.kind.facts.question) of slot \(slot.id)\(label)"
    let choice =
      isNeeded(slot, rest)
      ? "no other password or recovery code would open the vault" : "leave it empty to drop the slot"
    let text = "\(tries > 1 ? "That is not the password. " : "")\(what), to keep it (\(choice))"
    conversation.ask(.secret, method: slot.kind.name, text: text) { [self] typed in
      guard typed.count > 0 else { return goOn(without: slot, rest) }
      // Checked again, because the slot may have become stale since the prompt.
      guard keychain.triedSlots(slot.kind).contains(slot) else { return ask(slot, rest) }
      let kept = Handover(typed.withBytes { SecureBytes(copying: $0) })
      conversation.willWipe(kept)
      // The old slot is opened, so that a typing error does not become the password. That counts as an attempt like any
      // other.
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
    // The worker gets copies: the conversation's secrets are wiped when it ends, while the worker may still be using
    // them.
    guard let key = nextKey.copy(), let secret = secret.copy() else { return conversation.fail(.cancelled) }
    let vaultID = keychain.vaultID
    let isAtWork = ways.derive(.making, for: conversation) { cancellation -> Result<SlotRecord, CryptoError>? in
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
    let text = "slot \(slot.id) gets a new recovery code; the old one will no longer open the vault"
    conversation.tell(.info, method: slot.kind.name, text: text)
    let new = NewSlot(
      ways: ways, conversation: conversation, id: slot.id, label: slot.label, vaultKey: nextKey,
      vaultID: keychain.vaultID)
    new.recoveryCode { [self] in add($0, rest) }
  }

  // MARK: Keys in keystores

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
