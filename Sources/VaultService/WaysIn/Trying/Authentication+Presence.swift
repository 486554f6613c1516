internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Proof by a finger or the login password: PAM checks the person's presence, and a keystore then gives out the slot's
/// key.
extension Authentication {
  func provePresence() {
    let uid = conversation.caller.uid
    let slots = slots(.pam).filter { ways.obstacle(toSlot: $0, uid: uid) == nil }
    ways.presence.means.fingers(uid) { [self] fingers in
      guard !conversation.isOver else { return }
      let valid = slots.filter { fingers.agree(with: $0.terms?.fingers(of: uid) ?? []) }
      guard !valid.isEmpty else {
        return passedOver(.pam, .unavailable(SlotKind.pam.name, fingers.objection))
      }
      let question = ways.presence.question(for: uid)
      // While passwords have to wait, only a finger counts. Without an enrolled finger there is nothing to ask for.
      if !question.takesPassword, fingers.obstacle != nil, let wait = ways.attempts.wait(for: caller(.pam)) {
        return passedOver(.pam, wait)
      }
      ways.presence.show(question, to: conversation, purpose: purpose) {
        [self] outcome, seconds in
        if outcome == .succeeded {
          conversation.holdSecret()
          return open(valid[...])
        }
        if outcome == .cancelled { return conversation.fail(.cancelled) }
        if let refusal = outcome.refusal(method: SlotKind.pam.name, wait: Int(seconds) * 1000) {
          if outcome == .failed {
            ways.vault.log.info("PAM did not recognize the person who asked for uid \(uid)")
            // The conversation may continue with a password.
            conversation.record(.unproven, "not recognized by PAM")
          }
          passedOver(.pam, refusal)
        }
      }
    }
  }

  /// Fetches the keys of the slots one after the other until one opens its slot.
  private func open(_ slots: ArraySlice<SlotRecord>, after problem: String? = nil) {
    guard !conversation.isOver else { return }
    guard let slot = slots.first else {
      return passedOver(.pam, .unavailable(SlotKind.pam.name, problem ?? "no slot can be opened"))
    }
    var isFetched = false
    let giveUp = ways.fetchPresenceKey(of: slot) { [self] key in
      isFetched = true
      guard !conversation.isOver else { return }
      conversation.onEnd = nil
      switch consume key {
      case .success(let key):
        let opened = try? slot.openVaultKey(secret: key, vaultID: keychain.vaultID)
        // The key is wiped before the client is told.
        _ = consume key
        switch consume opened {
        case .some(let vaultKey): succeed(Handover(vaultKey), slot)
        case .none:
          open(slots.dropFirst(), after: "the key that slot \(slot.id)'s keystore gave does not open it")
        }
      case .failure(let error): open(slots.dropFirst(), after: error.reason)
      }
    }
    // A key in memory is fetched at once, and leaves nothing to give up.
    if !isFetched { conversation.onEnd = { _ in giveUp() } }
  }
}
