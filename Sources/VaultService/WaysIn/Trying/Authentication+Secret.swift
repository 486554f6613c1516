internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Proof by a password or recovery code: a secret that a person types, tried on every slot of its kind.
extension Authentication {
  func proveSecret(_ kind: SlotKind) {
    conversation.ask(.secret, method: kind.name, text: purpose.question(for: kind)) { [self] secret in
      check(secret, kind)
    }
  }

  private func check(_ secret: consuming SecureBytes, _ kind: SlotKind) {
    // Checked again, because slots may have become stale since the prompt.
    if let obstacle = ways.obstacle(to: kind, keychain, uid: conversation.caller.uid, mayWait: true) {
      return conversation.fail(obstacle)
    }
    let kept = conversation.keepsSecret ? Handover(secret.withBytes { SecureBytes(copying: $0) }) : nil
    let slots = slots(kind)
    let tried = TrialBudget.affordable(slots)
    ways.open(tried, vaultID: keychain.vaultID, with: secret, by: caller(kind), for: conversation) {
      [self] opened in
      switch opened {
      case .success(let opened):
        if let kept { conversation.isProven(by: kept) }
        succeed(opened.vaultKey, opened.slot)
      case .failure(.authenticationFailed) where tried.count < slots.count:
        let reason = "\(slots.count - tried.count) slots were not tried, because that would take too long"
        conversation.fail(.corrupt(reason, isNewer: false, advice: nil))
      case .failure(let fault): conversation.fail(fault)
      }
    }
  }
}

extension WaysIn {
  /// Tries a typed secret on `slots`, which are of one kind, once no other secret of the uid is being tried. It counts
  /// as an attempt of `caller`.
  ///
  /// Two terminals or units may give the right secret at the same time, and none of them has made a mistake. If the
  /// earlier attempt fails, the later one comes too soon. If it opens the vault, an unlock that waits is done.
  func open(
    _ slots: [SlotRecord], vaultID: [UInt8], with secret: consuming SecureBytes, by caller: Backoff.Source,
    for conversation: Conversation, then: @escaping (Result<OpenedSlot, Refusal>) -> Void
  ) {
    guard attempts.mustWait(for: caller.uid) else {
      return openNow(slots, vaultID: vaultID, with: secret, by: caller, for: conversation, then: then)
    }
    let kept = Handover(secret)
    let place = attempts.wait(for: caller.uid) { [self] in
      guard let secret = kept.take() else { return then(.failure(.cancelled)) }
      openNow(slots, vaultID: vaultID, with: secret, by: caller, for: conversation, then: then)
    }
    conversation.willCallOff { [attempts] in
      guard attempts.leave(place, of: caller.uid) else { return }
      _ = kept.take()
      then(.failure(.cancelled))
    }
  }

  private func openNow(
    _ slots: [SlotRecord], vaultID: [UInt8], with secret: consuming SecureBytes, by caller: Backoff.Source,
    for conversation: Conversation, then: @escaping (Result<OpenedSlot, Refusal>) -> Void
  ) {
    // Checked again, because attempts may have failed since the prompt.
    if let wait = attempts.wait(for: caller) { return then(.failure(wait)) }
    if slots.first?.kind.facts.secret == .code {
      // The checksum reveals a typing error. In that case no attempt was made, and none is counted.
      do throws(CryptoError) { _ = try RecoveryCode(typed: secret) } catch {
        return then(.failure(.mistypedRecoveryCode))
      }
    }
    let earlier = attempts.failures(of: caller)
    let seconds = attempts.charge(caller)
    let secret = Handover(secret)
    let refused = Refusal.authenticationFailed(method: caller.method, wait: Int(seconds) * 1000)
    conversation.beginTrial()
    derive(.trial, for: conversation) { cancellation in
      SlotTrial.run(slots, unless: cancellation) { slot throws(CryptoError) in
        let key = try secret.withSecret { secret throws(CryptoError) in
          try slot.openVaultKey(secret: secret, vaultID: vaultID)
        }
        guard let key else { throw .authenticationFailed }
        return key
      }
    } then: { [self] outcome in
      conversation.endTrial(tried: outcome.hasOpenedNothing ? refused.tried : nil)
      if outcome.hasOpenedNothing {
        let what = slots.first?.kind.facts.secretName ?? "secret"
        vault.log.info("wrong \(what), from uid \(caller.uid)")
      }
      switch outcome {
      case .opened(let opened):
        attempts.forgive(caller)
        then(.success(opened))
      case .wrong: then(.failure(refused))
      case .outOfMemory(let tried):
        if !tried { attempts.takeBack(caller, to: earlier) }
        then(.failure(.outOfMemory))
      case .abandoned(let tried):
        if !tried { attempts.takeBack(caller, to: earlier) }
        then(.failure(.cancelled))
      }
    }
  }
}
