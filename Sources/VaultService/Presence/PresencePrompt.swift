internal import VaultCore
internal import VaultModel

/// A prompt for a person's presence: one conversation with PAM.
///
/// The prompt is shown to the first caller that asked. A caller of the same session that asks the same question
/// meanwhile, for the same session, joins: the first one is told of it, and both get the same outcome. Every other
/// caller has a prompt of its own, because the person did not know of it, or because nobody may see this prompt.
final class PresencePrompt {
  private struct Asker {
    let conversation: Conversation
    let purpose: Purpose
    /// Receives the outcome, and the seconds to wait before the next attempt.
    let then: (PresenceOutcome, Int64) -> Void
  }

  /// The most askers of one prompt, which names all of them to a person.
  static let most = 8

  let question: Presence.Question
  /// The time at which the prompt was opened, in `CLOCK_MONOTONIC` nanoseconds.
  let opened: Int64
  private unowned let presence: Presence
  private var askers: [Asker] = []
  /// True once PAM has asked for something to be typed.
  private var isAsking = false
  /// True once the person has answered a question of PAM.
  private(set) var isAnswered = false
  /// The time since which the prompt has waited to begin, in `CLOCK_MONOTONIC` nanoseconds; nil if it does not wait.
  private(set) var waitingSince: Int64?
  /// True once the prompt has left the reader to another one.
  private(set) var hasYielded = false
  private var check: (any PresenceChecking)?
  /// The wait in seconds that a failure costs; nil until the attempt is charged. Only an attempt at a question that
  /// takes a password is charged.
  private var charged: Int64?

  init(_ question: Presence.Question, _ presence: Presence) {
    self.question = question
    self.presence = presence
    opened = presence.vault.clock.monotonic()
  }

  /// The session to which the prompt is shown.
  var session: AuthenticationSession? { askers.first?.conversation.caller.session }

  /// True if a PAM module may be using the fingerprint reader: PAM works, and has not come to a question yet.
  var isAtReader: Bool { check != nil && !isAsking }

  /// True while the prompt waits for the fingerprint reader, without which it cannot go on.
  var waitsForReader: Bool { waitingSince != nil && !question.takesPassword }

  /// True if the prompt can serve this conversation as well.
  func serves(_ conversation: Conversation) -> Bool {
    guard !isAnswered, askers.count < Self.most, let first = askers.first?.conversation, let session else {
      return false
    }
    // A program that asks for another session shows its prompt elsewhere, or nowhere.
    return session == conversation.caller.session && first.served == conversation.served
  }

  /// Shows the prompt to `conversation` or, if another conversation was first, has it wait for that one's outcome.
  func show(_ conversation: Conversation, purpose: Purpose, then: @escaping (PresenceOutcome, Int64) -> Void) {
    askers.append(Asker(conversation: conversation, purpose: purpose, then: then))
    conversation.onEnd = { [weak self, unowned conversation] dismissed in self?.leave(conversation, dismissed) }
    guard askers.count > 1, let first = askers.first else { return start() }
    first.conversation.tell(.info, method: "pam", text: "Also asked \(purpose.phrase)")
    conversation.tell(.info, method: "pam", text: "Another program is already asking; its prompt serves both")
  }

  private var what: String { question.takesPassword ? "Fingerprint or login password" : "Fingerprint" }

  /// Begins the check, or waits until it may begin.
  private func start() {
    if presence.mayBegin(self) { return begin() }
    wait()
    // A prompt that takes a password waits so briefly that nobody needs to be told.
    if waitsForReader { tell("The fingerprint reader is in use; this prompt waits for it") }
    presence.lookAtReader()
  }

  private func wait() { waitingSince = presence.vault.clock.monotonic() }

  private func tell(_ text: String) { askers.first?.conversation.tell(.info, method: "pam", text: text) }

  /// Begins the check with the first asker, and tells it the purpose.
  func begin() {
    waitingSince = nil
    guard let first = askers.first else { return }
    tell("\(what) \(first.purpose.phrase)")
    (isAsking, isAnswered) = (false, false)
    presence.willUseReader(self)
    check = presence.means.check(
      question, { [weak self] style, text in self?.relay(style, text) },
      { [weak self] outcome in self?.end(outcome) })
  }

  /// Leaves the reader to another prompt. The check begins again once that one has the reader, so that PAM finds it
  /// busy and asks for the password.
  func yieldReader() {
    tell("Another prompt needs the fingerprint reader")
    cancel()
    hasYielded = true
    wait()
  }

  private func relay(_ style: Prompt.Style, _ text: String) {
    guard let conversation = askers.first?.conversation else { return }
    presence.noteSign(of: self)
    guard style.wantsAnswer else { return conversation.tell(style, method: "pam", text: text) }
    isAsking = true
    conversation.ask(style, method: "pam", text: Self.question(text)) { [weak self] answer in self?.take(answer) }
    presence.lookAtReader()
  }

  private func take(_ answer: consuming SecureBytes) {
    // Each attempt has to be waited after, also by a prompt that was open already.
    if charged == nil, question.takesPassword, presence.attempts.wait(for: caller) != nil {
      return finish(.unavailable("a password was typed at another prompt a moment ago"))
    }
    // The attempt is charged before its check, so that a check that is ended halfway is no free attempt.
    charge()
    isAnswered = true
    check?.answer(consuming: answer)
  }

  /// The text of PAM's question. Most modules ask for a "Password", and do not say which.
  private static func question(_ text: String) -> String {
    let words = text.drop { $0 == " " }.prefix { $0 != ":" }
    return words == "Password" ? "Login password" : text
  }

  private func charge() {
    if charged == nil && question.takesPassword { charged = presence.attempts.charge(caller) }
  }

  private var caller: Backoff.Source { Backoff.Source(uid: question.uid, method: SlotKind.pam.name) }

  /// Ends the prompt without telling anybody, when the daemon ends.
  func stop() {
    askers = []
    finish(.cancelled)
  }

  /// Ends the prompt in favor of another one. The same question of the same session does not come back at once.
  func giveWay(_ reason: String) {
    presence.pause(question, in: session, because: "a prompt gave way to another one a moment ago")
    finish(.unavailable(reason))
  }

  /// Removes an asker that went away. If the first asker dismissed the prompt, the prompt ends for all, because the
  /// first asker was the one asked.
  private func leave(_ conversation: Conversation, _ dismissed: Bool) {
    guard let index = askers.firstIndex(where: { $0.conversation === conversation }) else { return }
    askers.remove(at: index)
    guard index == 0 else { return }
    cancel()
    if dismissed {
      presence.pause(question, in: conversation.caller.session, because: "the prompt was dismissed a moment ago")
    }
    // If an unlock ended the first conversation, it also ends the others that were to unlock the vault.
    askers.removeAll { $0.conversation.endsWhenUnlocked && presence.vault.state.kind == .unlocked }
    // After a charge the prompt is not shown again, because a second answer would be free.
    if dismissed || charged != nil || askers.isEmpty { finish(.cancelled) } else { start() }
  }

  /// Ends the check before its end. fprintd notices that a little later.
  private func cancel() {
    if isAtReader { presence.readerIsLeft() }
    check?.cancel()
    check = nil
  }

  /// Ends the prompt when its check is over, and the reader with it.
  private func end(_ outcome: PresenceOutcome) {
    check = nil
    finish(outcome)
  }

  private func finish(_ outcome: PresenceOutcome) {
    // A person may still be typing an answer, which must not be charged, nor answer the next question.
    askers.first?.conversation.withdraw()
    cancel()
    waitingSince = nil
    switch outcome {
    case .succeeded: if charged != nil { presence.attempts.forgive(caller) }
    case .failed, .tooManyTries: charge()
    case .cancelled, .unavailable, .expired, .broken: break
    }
    let (askers, charged) = (askers, charged ?? 0)
    self.askers = []
    for asker in askers { asker.conversation.onEnd = nil }
    presence.hasEnded(self)
    // The askers are answered in turns, because each may fetch a key now.
    for asker in askers {
      presence.vault.waiting.turns?.wait { if !asker.conversation.isOver { asker.then(outcome, charged) } }
    }
  }
}

extension Conversation {
  /// The session that a yes serves.
  fileprivate var served: AuthenticationSession? { servedSession ?? caller.session }
}
