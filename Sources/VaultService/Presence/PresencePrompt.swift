internal import VaultCore
internal import VaultModel

/// The only presence prompt that is shown now: PAM and a fingerprint reader serve one at a time.
///
/// The prompt is shown to the first caller that asked. A caller that asks the same question meanwhile joins: the first
/// one is told of it, and both get the same outcome. A caller that comes after the answer was given does not, because
/// the person did not know of it: a prompt of its own follows.
final class PresencePrompt {
  private struct Asker {
    let conversation: Conversation
    let purpose: Purpose
    /// Receives the outcome, and the seconds to wait before the next attempt.
    let then: (PresenceOutcome, Int64) -> Void
  }

  let question: Presence.Question
  private unowned let presence: Presence
  private var askers: [Asker] = []
  /// The callers that came after an answer was given.
  private var late: [Asker] = []
  /// True once the person has answered a question of PAM.
  private var isAnswered = false
  private var check: (any PresenceChecking)?
  /// The wait in seconds that a failure costs; nil until the attempt is charged. Only an attempt at a question that
  /// takes a password is charged.
  private var charged: Int64?

  init(_ question: Presence.Question, _ presence: Presence) {
    self.question = question
    self.presence = presence
  }

  /// Shows the prompt to `conversation` or, if another conversation was first, has it wait for that one's outcome.
  func show(_ conversation: Conversation, purpose: Purpose, then: @escaping (PresenceOutcome, Int64) -> Void) {
    let isFirst = askers.isEmpty
    let asker = Asker(conversation: conversation, purpose: purpose, then: then)
    if isAnswered { late.append(asker) } else { askers.append(asker) }
    conversation.onEnd = { [weak self, unowned conversation] dismissed in self?.leave(conversation, dismissed) }
    if isAnswered {
      conversation.tell(.info, method: "pam", text: "Another program's prompt is being answered; yours follows")
    } else if isFirst {
      start()
    } else if let first = askers.first {
      first.conversation.tell(.info, method: "pam", text: "Also asked \(purpose.phrase)")
      conversation.tell(.info, method: "pam", text: "Another program is already asking; its prompt serves both")
    }
  }

  private var what: String { question.takesPassword ? "Fingerprint or login password" : "Fingerprint" }

  /// Begins the check with the first asker, and tells it the purpose.
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
      // The attempt is charged before its check, so that a check that is ended halfway is no free attempt.
      charge()
      isAnswered = true
      check?.answer(consuming: answer)
    }
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
    (askers, late) = ([], [])
    finish(.cancelled)
  }

  /// Removes an asker that went away. If the first asker dismissed the prompt, the prompt ends for all, because the
  /// first asker was the one asked.
  private func leave(_ conversation: Conversation, _ dismissed: Bool) {
    late.removeAll { $0.conversation === conversation }
    guard let index = askers.firstIndex(where: { $0.conversation === conversation }) else { return }
    askers.remove(at: index)
    guard index == 0 else { return }
    check?.cancel()
    if dismissed { presence.dismissed(question) }
    // If an unlock ended the first conversation, it also ends the others that were to unlock the vault.
    askers.removeAll { $0.conversation.endsWhenUnlocked && presence.vault.state.kind == .unlocked }
    // After a charge the prompt is not shown again, because a second answer would be free.
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
    let (askers, late) = (askers, late)
    (self.askers, self.late) = ([], [])
    for asker in askers + late { asker.conversation.onEnd = nil }
    let charged = charged ?? 0
    // The askers are answered in turns, because each may fetch a key now.
    for asker in askers {
      presence.vault.waiting.turns?.wait { if !asker.conversation.isOver { asker.then(outcome, charged) } }
    }
    for asker in late {
      presence.vault.waiting.turns?.wait { [presence, question] in
        guard !asker.conversation.isOver else { return }
        guard outcome.isOfThePrompt else { return asker.then(outcome, charged) }
        presence.show(question, to: asker.conversation, purpose: asker.purpose, then: asker.then)
      }
    }
  }
}

extension PresenceOutcome {
  /// True if the outcome concerns the callers of one prompt only. Any other would be the same for the next prompt.
  fileprivate var isOfThePrompt: Bool {
    switch self {
    case .succeeded, .cancelled: true
    case .failed, .tooManyTries, .unavailable, .expired, .broken: false
    }
  }
}
