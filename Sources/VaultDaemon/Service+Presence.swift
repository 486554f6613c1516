internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Presence: PAM's word for who is there, the fingers it may be said for, and the keys that may be given out on it.
extension Service {
  /// The time for which a dismissed prompt is not shown again, in seconds.
  private static let coolDown: Int64 = 3

  /// Asks PAM about `uid`, at most once at a time.
  func showPresencePrompt(
    _ question: PresencePrompt.Question, for conversation: Conversation, purpose: String,
    then: @escaping (PresenceOutcome, Int64) -> Void
  ) {
    if let running = presencePrompt {
      guard running.question == question else {
        return then(.unavailable("the fingerprint reader is in use by another prompt"), 0)
      }
      return running.show(conversation, purpose: purpose, then: then)
    }
    if let until = dismissals[question], until > clock.boot() {
      return then(.unavailable("the prompt was dismissed a moment ago"), 0)
    }
    let prompt = PresencePrompt(question, self)
    presencePrompt = prompt
    prompt.show(conversation, purpose: purpose, then: then)
  }

  func dismissed(_ question: PresencePrompt.Question) {
    let now = clock.boot()
    dismissals = dismissals.filter { $0.value > now }
    dismissals[question] = now + Self.coolDown * 1_000_000_000
  }

  /// The question to PAM that has the vault opened, or an item's presence shown. While wrong passwords hold the
  /// password back, the finger alone still counts: whoever types wrong ones must not lock the owner out.
  func question(for uid: UInt32) -> PresencePrompt.Question {
    let isBackingOff = wait(for: Backoff.Caller(uid: uid, method: SlotKind.pam.name)) != nil
    return isBackingOff
      ? biometryQuestion(for: uid)
      : PresencePrompt.Question(pam: configuration.pamService, uid: uid, takesPassword: true)
  }

  func biometryQuestion(for uid: UInt32) -> PresencePrompt.Question {
    PresencePrompt.Question(pam: configuration.biometryService, uid: uid, takesPassword: false)
  }

  // MARK: What stands in the way

  /// The reason why a PAM slot cannot be opened by `uid` now, as far as that can be told at once; nil when it may.
  func obstacle(toSlot slot: SlotRecord, uid: UInt32) -> String? {
    guard let terms = slot.terms, terms.users.contains(uid) else { return "slot \(slot.id) is not for uid \(uid)" }
    guard let kind = KeystoreKind(rawValue: terms.keystore) else {
      return "slot \(slot.id) has a keystore this program does not know"
    }
    if kind == .memory && !retained.has(slot.id) {
      return "no key in memory (\(retained.lostBecause)); unlock with the password once"
    }
    return nil
  }
}
