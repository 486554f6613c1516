package import VaultCore
package import VaultModel

/// Checks of a person's presence by PAM, with one prompt at a time, and the fingers that count for it.
package final class Presence {
  /// A question to PAM, and the user whom it is about.
  package struct Question: Hashable, Sendable {
    /// The name of the PAM service.
    package var pam: String
    package var uid: UInt32
    /// True when a password can be typed as an answer, which others could guess; a finger cannot be guessed through a
    /// socket.
    package var takesPassword: Bool
  }

  /// The functions that ask PAM and the fingerprint service, in other processes.
  package struct Means {
    /// Asks which fingers of a user are enrolled.
    package let fingers: (_ uid: UInt32, _ then: @escaping (Fingers) -> Void) -> Void
    /// Returns the obstacle to a check, as far as it can be determined without trying.
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
  /// The times until which dismissed prompts are not shown again, in `CLOCK_BOOTTIME` nanoseconds.
  private var dismissals: [Question: Int64] = [:]

  package init(_ vault: Vault, _ attempts: Attempts, _ means: Means) {
    self.vault = vault
    self.attempts = attempts
    self.means = means
  }

  /// Asks PAM, at most one question at a time.
  ///
  /// - Parameter then: receives the outcome, and the seconds to wait before the next attempt.
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

  /// Ends the prompt without telling anybody, when the daemon ends.
  package func stop() { prompt?.stop() }

  /// The question to PAM for an unlock, or for the presence that an item requires. While wrong passwords delay the next
  /// password, a finger alone still counts: whoever types wrong passwords must not lock the owner out.
  func question(for uid: UInt32) -> Question {
    let isBackingOff = attempts.wait(for: Backoff.Source(uid: uid, method: SlotKind.pam.name)) != nil
    return isBackingOff ? biometryQuestion(for: uid) : passwordQuestion(for: uid)
  }

  /// The question that also accepts the login password.
  func passwordQuestion(for uid: UInt32) -> Question {
    Question(pam: vault.settings.pamService, uid: uid, takesPassword: true)
  }

  func biometryQuestion(for uid: UInt32) -> Question {
    Question(pam: vault.settings.biometryService, uid: uid, takesPassword: false)
  }

  // MARK: Fingers

  /// Asks for the enrolled fingers of several users, one after the other. If a user's fingers cannot be determined, the
  /// user counts as having none. `then` receives the fingers in the form in which slots record them.
  func fingers(ofAll users: ArraySlice<UInt32>, found: [String] = [], then: @escaping ([String]) -> Void) {
    guard let uid = users.first else { return then(found) }
    means.fingers(uid) { [unowned self] fingers in
      self.fingers(
        ofAll: users.dropFirst(), found: found + PresenceTerms.entries(fingers.names, of: uid), then: then)
    }
  }
}

/// A check of a person's presence that another process is making.
package protocol PresenceChecking: AnyObject {
  /// Answers the open question.
  func answer(consuming answer: consuming SecureBytes)
  /// Ends the check without telling anybody.
  func cancel()
}
