internal import Logging
internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Proving the right to open the vault. Every method that needs it goes through here, so that every attempt is counted.
extension Service {
  /// The methods that are tried when none is named.
  private static let usual: [SlotKind] = [.pam, .password]
  /// The methods that may change the ways in: a finger laid on a reader is not enough for that.
  private static let strong: [SlotKind] = [.password, .recovery]

  /// Has the right proven with `method`, or with the best one that is possible, and hands on the vault key and the slot
  /// that it opened.
  func authenticate(
    _ conversation: Conversation, method: String?, purpose: String,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    guard case .open(let keychain) = vault.content else { return conversation.fail(storeFault) }
    var kinds = Self.usual.filter { kind in kind == .password || keychain.slots.contains { $0.kind == kind } }
    if let method {
      guard let kind = SlotKind(name: method) else {
        let known = SlotKind.allCases.map(\.name).joined(separator: ", ")
        return conversation.fail(
          .methodUnavailable(method: method, reason: "there is no such method; there are \(known)"))
      }
      kinds = [kind]
    }
    Authentication(self, conversation, keychain, kinds: kinds, purpose: purpose, then: then).start()
  }

  /// As ``authenticate(_:method:purpose:then:)``, for a change of the ways in.
  func authenticateOwner(
    _ conversation: Conversation, method: String?, purpose: String, alsoLogin: Bool = false, evenRekeying: Bool = false,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    let method = method ?? SlotKind.password.name
    let kind = SlotKind(name: method)
    guard kind != .pam, alsoLogin || kind != .login else {
      let known = Self.strong.map(\.name).joined(separator: " or ")
      return conversation.fail(
        .methodUnavailable(method: method, reason: "a change of the ways in needs \(known)"))
    }
    // The new vault has its ways in already: what changes now would be lost.
    guard evenRekeying || !isRekeying else { return conversation.fail(.rekeying) }
    authenticate(conversation, method: method, purpose: purpose) { [unowned self] vaultKey, slot in
      // Asked again, because it may have begun since the prompt.
      guard evenRekeying || !isRekeying else { return conversation.fail(.rekeying) }
      then(vaultKey, slot)
    }
  }

  private var isRekeying: Bool {
    if case .open(let keychain) = vault.content { keychain.isRekeying } else { false }
  }

  /// The reason why a method cannot be used by `uid` now, as far as that can be told at once; nil when nothing stands
  /// in the way.
  func obstacle(to kind: SlotKind, _ keychain: Keychain, uid: UInt32) -> Fault? {
    let slots = keychain.triedSlots(kind)
    guard !slots.isEmpty else {
      let isStale = keychain.slots.contains { $0.kind == kind }
      return .methodUnavailable(
        method: kind.name,
        reason: isStale
          ? "the login password was changed without the vault; `vault passwd --login` takes the new one"
          : "the vault has no \(kind.name) slot")
    }
    let caller = Backoff.Caller(uid: uid, method: kind.name)
    guard kind == .pam else { return wait(for: caller) }
    let obstacles = slots.compactMap { obstacle(toSlot: $0, uid: uid) }
    if obstacles.count == slots.count {
      return .methodUnavailable(method: kind.name, reason: obstacles.joined(separator: "; "))
    }
    let question = question(for: uid)
    guard let reason = PresenceCheck.availability(of: question.pam, uid: uid, through: presenceHelper) else {
      return nil
    }
    return wait(for: caller) ?? .methodUnavailable(method: kind.name, reason: reason)
  }

  // MARK: Backing off

  func wait(for caller: Backoff.Caller) -> Fault? {
    let nanoseconds = backoff.wait(for: caller, now: clock.boot())
    if nanoseconds > 0 {
      return .backingOff(method: caller.method, retryAfterMilliseconds: Int((nanoseconds + 999_999) / 1_000_000))
    }
    // PAM derives nothing here.
    guard caller.method != SlotKind.pam.name, deriving.contains(caller.uid) else { return nil }
    return .backingOff(method: caller.method, retryAfterMilliseconds: 1000)
  }

  /// Counts an attempt before it is made; the answer is the wait in seconds if it fails.
  func charge(_ caller: Backoff.Caller) -> Int64 {
    let seconds = backoff.charge(caller, now: clock.boot())
    saveBackoff()
    return seconds
  }

  func forgive(_ caller: Backoff.Caller) {
    backoff.forgive(caller)
    saveBackoff()
  }

  /// Takes a charge back for an attempt that was not made; `earlier` is what was held against the caller before.
  func takeBack(_ caller: Backoff.Caller, to earlier: Backoff.Failures?) {
    backoff.takeBack(caller, to: earlier)
    saveBackoff()
  }

  private func saveBackoff() {
    // Without the file the wait still holds until the daemon ends; that is worth a line, not a refusal.
    do throws(SystemError) { try backoffFile.write(backoff) } catch {
      log.warning("cannot keep failed attempts: \(error)")
    }
  }
}

extension Keychain {
  /// The slots of a kind that a proof is tried on: not a stale one, until it is replaced. Anybody who can write to the store
  /// can say what is stale, so it counts for the login password alone.
  func triedSlots(_ kind: SlotKind) -> [SlotRecord] {
    let stale = kind == .login ? staleSlots : []
    return slots.filter { $0.kind == kind && !stale.contains($0.id) }
  }
}
