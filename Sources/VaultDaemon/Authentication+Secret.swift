internal import VaultAPI
internal import VaultCore
internal import VaultStore

/// Passwords and recovery codes: a secret that a person types, tried on every slot of its kind.
extension Authentication {
  func proveSecret(_ kind: SlotKind) {
    let name = kind == .password ? "Password" : kind == .recovery ? "Recovery code" : "Login password"
    conversation.ask(.secret, method: kind.name, text: "\(name) \(purpose)") { [self] secret in
      check(secret, kind)
    }
  }

  private func check(_ secret: consuming SecureBytes, _ kind: SlotKind) {
    // Asked again, because slots may have become stale since the prompt.
    if let obstacle = service.obstacle(to: kind, keychain, uid: conversation.connection.peer.uid) {
      return conversation.fail(obstacle)
    }
    let kept = conversation.keepsSecret ? Handover(secret.withBytes { SecureBytes(copying: $0) }) : nil
    let slots = slots(kind)
    let tried = TrialBudget.affordable(slots)
    service.open(tried, vaultID: keychain.vaultID, with: secret, by: caller(kind), for: conversation) {
      [self] opened in
      switch opened {
      case .success(let opened):
        if let kept { conversation.isProven(by: kept) }
        succeed(opened.vaultKey, opened.slot)
      case .failure(.authenticationFailed) where tried.count < slots.count:
        let reason = "\(slots.count - tried.count) slots were not tried, with which it would take too long"
        conversation.fail(.corrupt(reason: reason, newer: false))
      case .failure(let fault): conversation.fail(fault)
      }
    }
  }
}

extension Service {
  /// Tries a typed secret on `slots`, which are of one kind. It counts as an attempt of `caller`.
  func open(
    _ slots: [SlotRecord], vaultID: [UInt8], with secret: consuming SecureBytes, by caller: Backoff.Caller,
    for conversation: Conversation, then: @escaping (Result<OpenedSlot, Fault>) -> Void
  ) {
    // Asked again, because attempts may have failed since the prompt.
    if let wait = wait(for: caller) { return then(.failure(wait)) }
    if slots.first?.kind == .recovery {
      // A typing error shows in the checksum: no attempt was made, so none is counted.
      do throws(CryptoError) { _ = try RecoveryCode(typed: secret) } catch {
        return then(.failure(.mistypedRecoveryCode))
      }
    }
    let earlier = backoff.failures[caller]
    let seconds = charge(caller)
    let secret = Handover(secret)
    derive(for: conversation) { cancellation in
      SlotTrial.run(slots, unless: cancellation) { slot throws(CryptoError) in
        let key = try secret.withSecret { secret throws(CryptoError) in
          try slot.openVaultKey(secret: secret, vaultID: vaultID)
        }
        guard let key else { throw .authenticationFailed }
        return key
      }
    } then: { [self] outcome in
      switch outcome {
      case .opened(let opened):
        forgive(caller)
        then(.success(opened))
      case .wrong:
        then(.failure(.authenticationFailed(method: caller.method, retryAfterMilliseconds: Int(seconds) * 1000)))
      case .outOfMemory(let tried):
        if !tried { takeBack(caller, to: earlier) }
        then(.failure(.outOfMemory))
      case .abandoned(let tried):
        if !tried { takeBack(caller, to: earlier) }
        then(.failure(.cancelled))
      }
    }
  }

  /// Runs `work`, which derives keys from secrets, on the worker. There is one at a time for each uid: the answer is whether
  /// it was begun. It is told when the conversation that wants it has ended.
  @discardableResult
  func derive<T: Sendable>(
    for conversation: Conversation, _ work: @escaping @Sendable (Cancellation) -> T, then: @escaping (T) -> Void
  ) -> Bool {
    let uid = conversation.connection.peer.uid
    guard deriving.insert(uid).inserted else { return false }
    let cancellation = conversation.cancellation
    workers.run(on: loop) {
      work(cancellation)
    } then: { [self] result in
      deriving.remove(uid)
      then(result)
    }
    return true
  }
}
