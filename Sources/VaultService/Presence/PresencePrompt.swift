internal import VaultCore
internal import VaultModel

/// The one prompt for a person's presence that is being shown: PAM and a fingerprint reader serve one at a time.
///
/// It is shown to the one who asked first. Whoever asks for the same thing meanwhile joins, is named to the first, and
/// gets the same outcome.
final class PresencePrompt {
  private struct Asker {
    let conversation: Conversation
    let purpose: Purpose
    /// Gets the outcome, and the seconds to wait before the next attempt.
    let then: (PresenceOutcome, Int64) -> Void
  }

  let question: Presence.Question
  private unowned let presence: Presence
  private var askers: [Asker] = []
  private var check: (any PresenceChecking)?
  /// The wait that a failure costs, once an answer was given and so charged.
  private var charged: Int64?

  init(_ question: Presence.Question, _ presence: Presence) {
    self.question = question
    self.presence = presence
  }

  /// Shows the prompt to `conversation`, or has it wait for what the first one does.
  func show(_ conversation: Conversation, purpose: Purpose, then: @escaping (PresenceOutcome, Int64) -> Void) {
    let isFirst = askers.isEmpty
    askers.append(Asker(conversation: conversation, purpose: purpose, then: then))
    conversation.onEnd = { [weak self, unowned conversation] dismissed in self?.leave(conversation, dismissed) }
    if isFirst {
      start()
    } else if let first = askers.first {
      first.conversation.tell(.info, method: "pam", text: "Also asked \(purpose.phrase)")
      conversation.tell(.info, method: "pam", text: "Another program asks already; its prompt is for both")
    }
  }

  private var what: String { question.takesPassword ? "Fingerprint or login password" : "Fingerprint" }

  /// Begins the check with who asked first, and has it named.
  private func start() {
    guard let first = askers.first else { return }
    first.conversation.tell(.info, method: "pam", text: "\(what) \(first.purpose.phrase)")
    check = presence.means.check(
      question, { [weak self] style, text in self?.relay(style, text) },
      { [weak self] outcome in self?.finish(outcome) })
  }

  private func relay(_ style: Prompt.Style, _ text: String) {
    guard let conversation = askers.first?.conversation else { return }
    guard style.wantsAnswer else { return conversation.tell(style, method: "pam", text: text) }
    conversation.ask(style, method: "pam", text: Self.question(text)) { [weak self] answer in
      guard let self else { return }
      // Before it is checked, so that ending the check half way buys no free attempt.
      charge()
      check?.answer(consuming: answer)
    }
  }

  /// PAM's question. Most modules ask for a "Password", and do not say whose.
  private static func question(_ text: String) -> String {
    let words = text.drop { $0 == " " }.prefix { $0 != ":" }
    return words == "Password" ? "Login password" : text
  }

  private func charge() {
    if charged == nil && question.takesPassword { charged = presence.attempts.charge(caller) }
  }

  private var caller: Backoff.Source { Backoff.Source(uid: question.uid, method: SlotKind.pam.name) }

  /// Ends it without a word, at the daemon's end.
  func stop() {
    askers = []
    finish(.cancelled)
  }

  /// One of them went away. The first one takes the prompt with it when it was dismissed: whoever did so was asked.
  private func leave(_ conversation: Conversation, _ dismissed: Bool) {
    guard let index = askers.firstIndex(where: { $0.conversation === conversation }) else { return }
    askers.remove(at: index)
    guard index == 0 else { return }
    check?.cancel()
    if dismissed { presence.dismissed(question) }
    // What the unlock that ended this one ends as well.
    askers.removeAll { $0.conversation.endsWhenUnlocked && presence.vault.state.kind == .unlocked }
    // An answer that was given is paid for, and a second one would be free.
    if dismissed || charged != nil || askers.isEmpty { finish(.cancelled) } else { start() }
  }

  private func finish(_ outcome: PresenceOutcome) {
    if presence.prompt === self { presence.prompt = nil }
    check?.cancel()
    check = nil
    switch outcome {
    case .succeeded: if charged != nil { presence.attempts.forgive(caller) }
    case .failed, .tooManyTries: charge()
    case .cancelled, .unavailable, .expired, .broken: break
    }
    let askers = askers
    self.askers = []
    for asker in askers { asker.conversation.onEnd = nil }
    let charged = charged ?? 0
    // In turns: each of them may fetch a key now.
    for asker in askers {
      presence.vault.waiting.turns?.wait { if !asker.conversation.isOver { asker.then(outcome, charged) } }
    }
  }
}
