package import VaultCore
package import VaultModel

/// Checks of a person's presence by PAM, each with a prompt, and the fingers that count for it.
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

  /// A question that a person of a session does not want to be asked.
  private struct Refused: Hashable {
    let question: Question
    let session: AuthenticationSession?
  }

  /// The end of a pause in which a question is not asked, in `CLOCK_BOOTTIME` nanoseconds, and the reason of the pause.
  private struct Pause {
    let end: Int64
    let reason: String
  }

  /// The length of a pause, in nanoseconds.
  private static let pause: Int64 = 3_000_000_000
  /// The most pauses of one user; then the user is asked nothing, so that not many checks begin in a short time.
  private static let mostPauses = 8

  let vault: Vault
  let attempts: Attempts
  let means: Means
  let timer: Timer
  /// The open prompts, in the order in which they were opened.
  private(set) var prompts: [PresencePrompt] = []
  /// The questions that are not asked now, each in the session where it was dismissed or gave way. A pause for all
  /// sessions would let one program keep the prompts of all others from being shown.
  private var pauses: [Refused: Pause] = [:]
  /// The use of the fingerprint reader.
  var reader = ReaderUse()

  package init(_ vault: Vault, _ attempts: Attempts, _ means: Means, _ timer: Timer) {
    self.vault = vault
    self.attempts = attempts
    self.means = means
    self.timer = timer
  }

  /// Asks PAM. Prompts with different askers are open at the same time, so that nobody's silence holds others up.
  ///
  /// - Parameter then: receives the outcome, and the seconds to wait before the next attempt.
  func show(
    _ question: Question, to conversation: Conversation, purpose: Purpose,
    then: @escaping (PresenceOutcome, Int64) -> Void
  ) {
    if let open = prompts.first(where: { $0.question == question && $0.serves(conversation) }) {
      return open.show(conversation, purpose: purpose, then: then)
    }
    if let reason = reasonToPause(question, conversation.caller) { return then(.unavailable(reason), 0) }
    guard hasRoom(for: conversation.caller) else {
      return then(.unavailable("too many prompts for your presence are open"), 0)
    }
    let new = PresencePrompt(question, self)
    prompts.append(new)
    new.show(conversation, purpose: purpose, then: then)
  }

  /// The reason why a question is not asked now; nil if it may be asked.
  private func reasonToPause(_ question: Question, _ caller: Caller) -> String? {
    let now = vault.clock.boot()
    pauses = pauses.filter { $0.value.end > now }
    if let pause = pauses[Refused(question: question, session: caller.session)] { return pause.reason }
    let own = pauses.keys.count { $0.question.uid == question.uid }
    return own < Self.mostPauses ? nil : "many prompts were dismissed a moment ago"
  }

  /// Pauses before a question is asked again in a session.
  func pause(_ question: Question, in session: AuthenticationSession?, because reason: String) {
    let end = vault.clock.boot() + Self.pause
    pauses[Refused(question: question, session: session)] = Pause(end: end, reason: reason)
  }

  /// Drops a prompt that is over.
  func hasEnded(_ prompt: PresencePrompt) {
    prompts.removeAll { $0 === prompt }
    lookAtReader()
  }

  /// Ends the prompts without telling anybody, when the daemon ends.
  package func stop() {
    let open = prompts
    prompts = []
    for prompt in open { prompt.stop() }
  }

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
