internal import VaultCore
internal import VaultModel
internal import VaultStore

extension WaysIn {
  /// Unlocks the vault.
  ///
  /// - Parameters:
  ///   - method: the method of the proof; nil for the best possible one.
  ///   - seconds: the seconds after which the vault locks again; nil to follow the settings.
  ///   - prompter: asks the person. If the vault is unlocked already and `seconds` is nil, it receives the result at
  ///     once.
  package func unlock(_ method: String?, for seconds: Int?, _ said: Said, _ prompter: any Prompter) {
    let keychain: Keychain
    do throws(Refusal) {
      keychain = try vault.keychain()
      if let seconds, seconds <= 0 { throw .invalid("for") }
    } catch { return refuse(prompter, error, .unlock) }
    if vault.state.kind == .unlocked && seconds == nil {
      vault.asks(prompter.caller, said)
      hooks.rekeyDelays()
      return prompter.finish(.done)
    }
    let conversation = converse(prompter, .unlock, nil, said)
    // A success is recorded by the vault itself.
    let refused = conversation.record
    conversation.record = { [vault] outcome, done in
      if outcome != .ok { refused(outcome, done) }
      if outcome == .unproven { vault.hooks.unlockFailed(prompter.caller) }
    }
    conversation.endsWhenUnlocked = seconds == nil
    authenticate(conversation, method: method, purpose: Purpose(.unlock, said)) {
      [unowned self] vaultKey, slot in
      // From here on a lock ends the conversation, whatever the method of the proof.
      conversation.holdSecret()
      guard let ahead = vaultKey.withSecret({ GrantsAhead(access, keychain, runner, $0) }) else {
        return conversation.fail(.cancelled)
      }
      conversation.willCallOff { ahead.callOff() }
      ahead.begin { [unowned self] in open(keychain, vaultKey, slot, for: seconds, conversation) }
    }
  }

  private func open(
    _ keychain: Keychain, _ vaultKey: Handover, _ slot: SlotRecord, for seconds: Int?, _ conversation: Conversation
  ) {
    guard conversation.mayConclude else { return }
    // The store may have been reopened, and the slot removed, while the grants were read.
    guard vault.openKeychain === keychain, let key = vaultKey.take() else { return conversation.fail(.cancelled) }
    let caller = conversation.caller
    do throws(VaultError) {
      try keychain.check(slot, vaultKey: key)
      vault.audit.willUnlock()
      try keychain.unlock(vaultKey: key)
      // The unlock is done. The conversation may still end in another way, for instance while deposits are taken in,
      // but that takes nothing back.
      conversation.conclude()
      remember(slot, caller)
      hooks.keyIsKnown(key, keychain)
      if slot.kind.facts.secret != .presenceKey { takeUpPresenceKeys(key, keychain, uid: caller.uid, provenBy: slot) }
      // The key is wiped before anybody is told.
      _ = consume key
      vault.unlocked(keychain, by: .method(slot.kind.facts.unlockedBy), for: seconds.map(Int64.init), caller) {
        conversation.finish()
      }
    } catch {
      conversation.fail(Refusal(error))
    }
  }

  /// Remembers the proof of an unlock for the session in which it was made.
  private func remember(_ slot: SlotRecord, _ caller: Caller) {
    switch slot.kind {
    case .password: access.add(.password, by: caller, with: [slot])
    case .pam, .login: access.add(.presence, by: caller, with: [slot])
    case .recovery: break
    }
  }
}
