internal import VaultCore
internal import VaultModel

/// The only presence prompt that is shown now: PAM and a fingerprint reader serve one at a time.
///
/// The prompt is shown to the first of its wishes, and names all of them before PAM asks: a yes applies to all of them.
/// A wish that comes later has a prompt of its own afterwards, because a person who reads and types does not hear of
/// it. Only a proof for a session for which the prompt asks already joins, because the proof serves the whole session.
final class PresencePrompt {
  /// The most wishes that a prompt names; a person reads no longer list.
  static let most = 8

  let question: Presence.Question
  private unowned let presence: Presence
  private var wishes: [PresenceWish]
  /// The wishes that came too late to be named.
  private var late: [PresenceWish]
  private var check: (any PresenceChecking)?
  /// The wait in seconds that a failure costs; nil until the attempt is charged. Only an attempt at a question that
  /// takes a password is charged.
  private var charged: Int64?

  /// Makes a prompt for the first of some wishes; the others have theirs afterwards.
  init(_ question: Presence.Question, for all: [PresenceWish], _ presence: Presence) {
    (self.question, self.presence) = (question, presence)
    let (named, rest) = (all.prefix(Self.most), all.dropFirst(Self.most))
    let isServed = { (wish: PresenceWish) in named.contains(where: wish.isServed) }
    (wishes, late) = (named + rest.filter(isServed), rest.filter { !isServed($0) })
  }

  /// Tells the first wish's person all purposes, and begins the check.
  func begin() {
    for wish in wishes + late { watch(wish.conversation) }
    for wish in wishes.dropFirst() { wish.tell(Self.shared) }
    guard let first = wishes.first else { return }
    first.tell("\(what) \(first.purpose.phrase)")
    for wish in wishes.prefix(Self.most).dropFirst() { first.tell("Also asked \(wish.purpose.phrase)") }
    check = presence.means.check(
      question, { [weak self] style, text in self?.relay(style, text) },
      { [weak self] outcome in self?.finish(outcome) })
  }

  /// Takes in a wish that comes while the prompt is shown.
  func take(_ wish: PresenceWish) {
    watch(wish.conversation)
    guard wishes.contains(where: wish.isServed) else {
      late.append(wish)
      return wish.tell("Another program's prompt comes first; yours follows")
    }
    wishes.append(wish)
    if wishes.count <= Self.most { wishes.first?.tell("Also asked \(wish.purpose.phrase)") }
    wish.tell(Self.shared)
  }

  private static let shared = "Another program is already asking; its prompt serves both"

  private func watch(_ conversation: Conversation) {
    conversation.onEnd = { [weak self, unowned conversation] dismissed in self?.leave(conversation, dismissed) }
  }

  private var what: String { question.takesPassword ? "Fingerprint or login password" : "Fingerprint" }

  private func relay(_ style: Prompt.Style, _ text: String) {
    guard let conversation = wishes.first?.conversation else { return }
    guard style.wantsAnswer else { return conversation.tell(style, method: "pam", text: text) }
    conversation.ask(style, method: "pam", text: Self.question(text)) { [weak self] answer in
      guard let self else { return }
      // The attempt is charged before its check, so that a check that is ended halfway is no free attempt.
      charge()
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
    (wishes, late) = ([], [])
    finish(.cancelled)
  }

  /// Removes the wish of a call that went away. If it was the first, the prompt is over. If its person dismissed the
  /// prompt, what the same yes would have served is dismissed as well; the other wishes have a prompt of their own.
  private func leave(_ conversation: Conversation, _ dismissed: Bool) {
    late.removeAll { $0.conversation === conversation }
    guard let index = wishes.firstIndex(where: { $0.conversation === conversation }) else { return }
    let gone = wishes.remove(at: index)
    guard index == 0 else { return }
    if dismissed { presence.dismissed(question) }
    // After a charge they are not asked again, because a second answer would be free.
    if charged == nil {
      let isDismissed = { (wish: PresenceWish) in dismissed && wish.isServed(by: gone) }
      (wishes, late) = (wishes.filter(isDismissed), wishes.filter { !isDismissed($0) } + late)
    }
    finish(.cancelled)
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
    let (wishes, late) = (wishes, late)
    (self.wishes, self.late) = ([], [])
    for wish in wishes + late { wish.conversation.onEnd = nil }
    // The wishes are answered in turns, because each may fetch a key now.
    for wish in wishes { end(wish, outcome) }
    if let outcome = outcomeForLate(outcome) {
      for wish in late { end(wish, outcome) }
    } else {
      follow(with: late, after: outcome == .succeeded ? wishes.first { $0.effect == .unlock } : nil)
    }
  }

  private func end(_ wish: PresenceWish, _ outcome: PresenceOutcome) {
    let charged = charged ?? 0
    presence.vault.waiting.turns?.wait { wish.end(outcome, charged) }
  }

  /// The outcome for the wishes that the prompt did not name; nil if a prompt of their own follows. The answer was not
  /// theirs, so no failure counts as theirs; but another answer must not escape the wait that this one costs.
  private func outcomeForLate(_ outcome: PresenceOutcome) -> PresenceOutcome? {
    switch outcome {
    case .succeeded: nil
    case .cancelled: charged == nil ? nil : .cancelled
    case .failed, .tooManyTries:
      question.takesPassword ? .unavailable("a wrong password was typed at another prompt a moment ago") : nil
    case .unavailable, .expired, .broken: outcome
    }
  }

  /// Has the next prompt shown.
  ///
  /// - Parameter unlocking: the wish by which the vault is being unlocked. The wishes that its unlock ends wait until
  ///   it is known whether the unlock succeeds.
  private func follow(with late: [PresenceWish], after unlocking: PresenceWish?) {
    guard !late.isEmpty else { return }
    let waiting = unlocking == nil ? [] : late.filter(\.endsWithUnlock)
    let next = unlocking == nil ? late : late.filter { !$0.endsWithUnlock }
    presence.follow(question, with: next)
    unlocking?.conversation.whenOver { [presence, question] in presence.follow(question, with: waiting) }
  }
}
