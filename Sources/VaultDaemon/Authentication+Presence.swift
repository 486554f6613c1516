internal import VaultAPI
internal import VaultCore
internal import VaultKeystore
internal import VaultModel
internal import VaultStore

/// A finger or the login password: PAM says who is there, and then a keystore gives out the slot's key.
extension Authentication {
  func provePresence() {
    let uid = conversation.connection.peer.uid
    let slots = slots(.pam).filter { service.obstacle(toSlot: $0, uid: uid) == nil }
    service.askFingers(uid) { [self] fingers in
      guard !conversation.isOver else { return }
      let valid = slots.filter { fingers.agree(with: $0.terms?.fingers(of: uid) ?? []) }
      guard !valid.isEmpty else {
        return passedOver(.pam, .methodUnavailable(method: SlotKind.pam.name, reason: fingers.objection))
      }
      let question = service.question(for: uid)
      // While passwords have to wait, a finger counts, and where there is none there is nothing to ask for.
      if !question.takesPassword, fingers.reason != nil, let wait = service.wait(for: caller(.pam)) {
        return passedOver(.pam, wait)
      }
      service.showPresencePrompt(question, for: conversation, purpose: purpose) {
        [self] outcome, seconds in
        if outcome == .succeeded {
          conversation.holdSecret()
          return open(valid[...])
        }
        if outcome == .cancelled { return conversation.fail(.cancelled) }
        let retry = Int(seconds) * 1000
        if let fault = outcome.fault(method: SlotKind.pam.name, retryAfterMilliseconds: retry) {
          passedOver(.pam, fault)
        }
      }
    }
  }

  /// Fetches the keys of the slots one after the other until one opens.
  private func open(_ slots: ArraySlice<SlotRecord>, after problem: String? = nil) {
    guard !conversation.isOver else { return }
    guard let slot = slots.first else {
      return passedOver(.pam, .methodUnavailable(method: SlotKind.pam.name, reason: problem ?? "no slot can be opened"))
    }
    var isFetched = false
    let giveUp = service.fetchPresenceKey(of: slot) { [self] key in
      isFetched = true
      guard !conversation.isOver else { return }
      conversation.onEnd = nil
      switch consume key {
      case .success(let key):
        let opened = try? slot.openVaultKey(secret: key, vaultID: keychain.vaultID)
        // Before the client hears of it.
        _ = consume key
        switch consume opened {
        case .some(let vaultKey): succeed(Handover(vaultKey), slot)
        case .none:
          open(slots.dropFirst(), after: "the key that slot \(slot.id)'s keystore gave does not open it")
        }
      case .failure(let error): open(slots.dropFirst(), after: error.reason)
      }
    }
    // A key in memory is there at once.
    if !isFetched { conversation.onEnd = { _ in giveUp() } }
  }
}
