internal import Logging
internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Proving the right to open the vault. Every method that needs it goes through here, so that every attempt is counted.
extension Service {
  /// The kinds of slot a person can name as a method.
  static let methods: [String: SlotKind] = ["password": .password, "recovery": .recovery]

  /// Asks for the secret of `method` and hands on the vault key and the slot that it opened.
  func authenticate(
    _ conversation: Conversation, method: String?, purpose: String,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    let method = method ?? "password"
    guard case .open(let keychain) = vault.content else { return conversation.fail(storeFault) }
    if let reason = unavailable(method, keychain) {
      return conversation.fail(.methodUnavailable(method: method, reason: reason))
    }
    let caller = Backoff.Caller(uid: conversation.connection.peer.uid, method: method)
    if let wait = wait(for: caller) { return conversation.fail(wait) }
    let what = method == "recovery" ? "Recovery code" : "Password"
    conversation.ask(.secret, method: method, text: "\(what) \(purpose)") { [unowned self] secret in
      check(secret, for: caller, conversation, keychain, then: then)
    }
  }

  /// Why a method cannot be used now, or nil when it can.
  func unavailable(_ method: String, _ keychain: Keychain) -> String? {
    guard let kind = Self.methods[method] else { return "there is no such method; there are password and recovery" }
    return keychain.slots.contains { $0.kind == kind } ? nil : "the vault has no \(method) slot"
  }

  private func check(
    _ secret: consuming SecureBytes, for caller: Backoff.Caller, _ conversation: Conversation, _ keychain: Keychain,
    then: @escaping (Handover, SlotRecord) -> Void
  ) {
    // Asked again, because attempts may have failed since the prompt.
    if let wait = wait(for: caller) { return conversation.fail(wait) }
    if caller.method == "recovery" {
      // A typing error shows in the checksum: no attempt was made, so none is counted.
      do throws(CryptoError) { _ = try RecoveryCode(typed: secret) } catch {
        return conversation.fail(.mistypedRecoveryCode)
      }
    }
    let seconds = charge(caller)
    checking.insert(caller)
    let slots = keychain.slots.filter { $0.kind == Self.methods[caller.method] }
    let vaultID = keychain.vaultID
    let secret = Handover(secret)
    workers.run(on: loop) { () -> Opened? in
      for slot in slots {
        let key = secret.withSecret { bytes in try? slot.openVaultKey(secret: bytes, vaultID: vaultID) }
        if case .some(.some(let key)) = consume key { return Opened(slot: slot, vaultKey: Handover(key)) }
      }
      return nil
    } then: { [unowned self] opened in
      checking.remove(caller)
      guard let opened else {
        return conversation.fail(
          .authenticationFailed(method: caller.method, retryAfterMilliseconds: Int(seconds) * 1000))
      }
      forgive(caller)
      if !conversation.isOver { then(opened.vaultKey, opened.slot) }
    }
  }

  private struct Opened: Sendable {
    var slot: SlotRecord
    var vaultKey: Handover
  }

  // MARK: Backing off

  private func wait(for caller: Backoff.Caller) -> Fault? {
    let nanoseconds = backoff.wait(for: caller, now: clock.boot())
    if nanoseconds > 0 {
      return .backingOff(method: caller.method, retryAfterMilliseconds: Int((nanoseconds + 999_999) / 1_000_000))
    }
    return checking.contains(caller) ? .backingOff(method: caller.method, retryAfterMilliseconds: 1000) : nil
  }

  private func charge(_ caller: Backoff.Caller) -> Int64 {
    let seconds = backoff.charge(caller, now: clock.boot())
    saveBackoff()
    return seconds
  }

  private func forgive(_ caller: Backoff.Caller) {
    backoff.forgive(caller)
    saveBackoff()
  }

  private func saveBackoff() {
    // Without the file the wait still holds until the daemon ends; that is worth a line, not a refusal.
    do throws(SystemError) { try backoffFile.write(backoff) } catch {
      log.warning("cannot keep failed attempts: \(error)")
    }
  }
}
