package import VaultCore
package import VaultModel

/// PAM's word for who is there: one prompt at a time, and the fingers it may be said for.
package final class Presence {
  /// A question to PAM, and the user it is about.
  package struct Question: Hashable, Sendable {
    /// The PAM service.
    package var pam: String
    package var uid: UInt32
    /// True when answers are typed that others could guess at; a finger cannot be guessed through a socket.
    package var takesPassword: Bool
  }

  /// The means to ask PAM and the fingerprint service, in other processes.
  package struct Means {
    /// Asks which fingers of a user are enrolled.
    package let fingers: (_ uid: UInt32, _ then: @escaping (Fingers) -> Void) -> Void
    /// Tells what keeps a check from working, as far as that shows without trying.
    package let obstacle: (Question) -> Obstacle?
    /// Begins a check. Neither closure is called within this call.
    package let check:
      (
        _ question: Question, _ onPrompt: @escaping (Prompt.Style, String) -> Void,
        _ onEnd: @escaping (PresenceOutcome) -> Void
      ) -> any PresenceChecking

    package init(
      fingers: @escaping (UInt32, @escaping (Fingers) -> Void) -> Void, obstacle: @escaping (Question) -> Obstacle?,
      check:
        @escaping (
          Question, @escaping (Prompt.Style, String) -> Void, @escaping (PresenceOutcome) -> Void
        ) -> any PresenceChecking
    ) {
      self.fingers = fingers
      self.obstacle = obstacle
      self.check = check
    }
  }

  /// The seconds for which a dismissed prompt is not shown again.
  private static let coolDown: Int64 = 3

  let vault: Vault
  let attempts: Attempts
  let means: Means
  /// The prompt that is being shown.
  var prompt: PresencePrompt?
  /// Until when a dismissed prompt is not shown again, `CLOCK_BOOTTIME` nanoseconds.
  private var dismissals: [Question: Int64] = [:]

  package init(_ vault: Vault, _ attempts: Attempts, _ means: Means) {
    self.vault = vault
    self.attempts = attempts
    self.means = means
  }

  /// Asks PAM, at most one question at a time.
  ///
  /// - Parameter then: gets the outcome, and the seconds to wait before the next attempt.
  func show(
    _ question: Question, to conversation: Conversation, purpose: Purpose,
    then: @escaping (PresenceOutcome, Int64) -> Void
  ) {
    if let running = prompt {
      guard running.question == question else {
        return then(.unavailable("the fingerprint reader is in use by another prompt"), 0)
      }
      return running.show(conversation, purpose: purpose, then: then)
    }
    if let until = dismissals[question], until > vault.clock.boot() {
      return then(.unavailable("the prompt was dismissed a moment ago"), 0)
    }
    let new = PresencePrompt(question, self)
    prompt = new
    new.show(conversation, purpose: purpose, then: then)
  }

  func dismissed(_ question: Question) {
    let now = vault.clock.boot()
    dismissals = dismissals.filter { $0.value > now }
    dismissals[question] = now + Self.coolDown * 1_000_000_000
  }

  /// Ends the prompt without a word, at the daemon's end.
  package func stop() { prompt?.stop() }

  /// The question to PAM that has the vault opened, or an item's presence shown. While wrong passwords hold the
  /// password back, the finger alone still counts: whoever types wrong ones must not lock the owner out.
  func question(for uid: UInt32) -> Question {
    let isBackingOff = attempts.wait(for: Backoff.Source(uid: uid, method: SlotKind.pam.name)) != nil
    return isBackingOff ? biometryQuestion(for: uid) : passwordQuestion(for: uid)
  }

  /// The question that takes the login password, too.
  func passwordQuestion(for uid: UInt32) -> Question {
    Question(pam: vault.settings.pamService, uid: uid, takesPassword: true)
  }

  func biometryQuestion(for uid: UInt32) -> Question {
    Question(pam: vault.settings.biometryService, uid: uid, takesPassword: false)
  }

  // MARK: Fingers

  /// Asks about one user after the other; what cannot be known of one counts as none. The answers are as slots record them.
  func fingers(ofAll users: ArraySlice<UInt32>, found: [String] = [], then: @escaping ([String]) -> Void) {
    guard let uid = users.first else { return then(found) }
    means.fingers(uid) { [unowned self] fingers in
      self.fingers(
        ofAll: users.dropFirst(), found: found + PresenceTerms.entries(fingers.names, of: uid), then: then)
    }
  }
}

/// A check of who is there that is under way in another process.
package protocol PresenceChecking: AnyObject {
  /// Answers the open question.
  func answer(consuming answer: consuming SecureBytes)
  /// Ends the check without a word.
  func cancel()
}
