internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// Puts one inquiry to the person and sends the answer, on the asking thread.
final class Asking {
  /// The number of attempts at a password.
  private static let attempts = 3

  /// The reason why an inquiry ends without an answer.
  private enum End: Error, CustomStringConvertible {
    /// The person does not want to answer, or the daemon has withdrawn the inquiry. ``OpenInquiry/end`` is raised for
    /// both, and only ``OpenInquiry/isWithdrawn`` tells them apart.
    case dismissed
    /// The daemon has withdrawn the prompt, and the conversation goes on or has ended.
    case overtaken
    case unable

    var description: String {
      switch self {
      case .dismissed, .overtaken: "the question was withdrawn"
      case .unable: "no way to ask fits this question"
      }
    }
  }

  private let open: OpenInquiry
  private let faces: Faces
  private var vault: Vault
  private var told: [String] = []
  /// The daemon's messages since the last typed answer, which no further question has shown; nil before an answer.
  private var afterAnswer: [String]?
  /// True when the last typed secret has letters that can be composed in another way.
  private var hasComposed = false
  private var shown: (any Face)?

  init(_ open: OpenInquiry, _ faces: Faces) {
    self.open = open
    self.faces = faces
    vault = Vault(at: open.location)
    vault.interactive = true
    vault.patience = .zero
    vault.cancellation = open.end.descriptor
  }

  func run() {
    defer { shown?.clear() }
    do {
      switch open.inquiry.about {
      case "unlock": try converse { vault, answer in try vault.unlock(answer: answer) }
      case "presence":
        try converse { vault, answer in try vault.authenticate(inquiry: open.inquiry.number, answer: answer) }
      case "approval": try approve()
      case "confirmation": try confirm()
      default: throw End.unable
      }
    } catch {
      if !open.isWithdrawn { settle(error) }
    }
  }

  private func settle(_ error: any Error) {
    let isDismissed: Bool =
      switch error {
      case End.dismissed, ClientError.fault(.cancelled): true
      default: false
      }
    if !isDismissed { tell("nothing was done: \(reason(of: error))") }
    do throws(ClientError) {
      try vault.dismiss(open.inquiry.number, unable: !isDismissed && !isRefused(error))
    } catch .fault(.noSuchRequest) {
      // The inquiry ended in the meantime.
    } catch {
      tell("the question is still asked: \(error)")
    }
  }

  /// Returns the reason why a question got no answer, in words for a person.
  private func reason(of error: any Error) -> String {
    isRefused(error) ? "\(error), \(Self.attempts) times; nobody is asked again for a minute" : "\(error)"
  }

  /// Returns true for an error with which the daemon rejected the person's attempt. Asking again at once would not
  /// help.
  private func isRefused(_ error: any Error) -> Bool {
    if case ClientError.fault(.authenticationFailed) = error { true } else { false }
  }

  /// Tells the person and the journal why an answer had no effect. On a terminal, the person is told once.
  private func tell(_ text: String) {
    let notice = Notice(title: QuestionText.title(isSystem: open.isSystem), text: text, isUrgent: false)
    if faces.tell(notice), isatty(STDERR_FILENO) == 1 { return }
    StandardStream.errors.complain(AgentProgram.name, text)
  }

  /// Asks whether a key may be used once.
  private func confirm() throws {
    let question = QuestionText.question(.choice, open.inquiry, isSystem: open.isSystem, prompt: "Allow it this once?")
    guard case .yes = try ask(question) else { throw End.dismissed }
    try vault.confirm(open.inquiry.number)
  }

  /// Asks for an approval, and asks again if another process made the same request while the person was thinking.
  private func approve() throws {
    for attempt in 1... {
      let inquiry = open.inquiry
      guard let approval = try approval(inquiry) else {
        try vault.deny(inquiry.number)
        return
      }
      if try isApproved(inquiry.number, approval, isLast: attempt == Self.attempts) { return }
      try open.waitForAnother(than: inquiry.askers.first)
      told = ["another process has asked for the same in the meantime"]
    }
  }

  /// Asks the person; returns how long the approval counts, or nil for a no.
  private func approval(_ inquiry: Wire.Inquiry) throws -> Vault.Approval? {
    let asker = inquiry.askers.first
    let question = QuestionText.question(.approval(session: asker != nil), inquiry, isSystem: open.isSystem, told: told)
    switch try ask(question) {
    case .once: return Vault.Approval(uses: 1)
    case .session: return Vault.Approval(session: asker?.pid, started: asker?.started)
    case .always: return Vault.Approval(always: true)
    case .no: return nil
    default: throw End.dismissed
    }
  }

  /// Sends the approval; returns false when the last asker is not the process that was shown.
  private func isApproved(_ number: Int, _ approval: Vault.Approval, isLast: Bool) throws -> Bool {
    do {
      try vault.approve(number, approval)
      return true
    } catch ClientError.fault(.presenceRequired("", _)) {
      // In a user's own vault a click is not enough, because any process of the user can make one.
      try converse { vault, answer in try vault.authenticateForGrants(answer: answer) }
      return try isApproved(number, approval, isLast: isLast)
    } catch ClientError.fault(.busy) where !isLast {
      return false
    }
  }

  /// Holds a conversation, and begins it again after a wrong secret.
  private func converse(_ body: (Vault, Vault.Answer) throws -> Void) throws {
    for attempt in 1... {
      told = attempt == 1 ? [] : ["that was wrong; attempt \(attempt) of \(Self.attempts)"]
      if attempt > 1, hasComposed { told.append(ComposedLetters.hint) }
      afterAnswer = nil
      do {
        try body(vault) { prompt in try answer(prompt) }
        tellAfterAnswer()
        return
      } catch ClientError.fault(.authenticationFailed(_, let wait)) where attempt < Self.attempts {
        var polled = pollfd(fd: open.end.descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&polled, 1, Int32(clamping: wait)) > 0 { throw End.dismissed }
      }
    }
  }

  /// Tells the person what the daemon said of a question whose answer counted, as that another program has joined it.
  /// A dialog cannot show this while it is open, and what ``show()`` shows vanishes at the end of the conversation,
  /// except on a terminal.
  private func tellAfterAnswer() {
    guard let texts = afterAnswer, !texts.isEmpty, shown?.name != .terminal else { return }
    let title = QuestionText.title(isSystem: open.isSystem)
    // A face that cannot show it loses it: the text may name an item, so the journal does not get it.
    faces.tell(Notice(title: title, text: texts.joined(separator: "; "), isUrgent: false))
  }

  private func answer(_ prompt: borrowing Prompt) throws -> SecretBuffer? {
    let text = Printable.text(prompt.text)
    let kind: Question.Kind
    switch prompt.style {
    case .info, .error:
      told.append(text)
      afterAnswer?.append(text)
      show()
      return nil
    case .secret: kind = .secret
    case .visible: kind = .visible
    case .choice: kind = .choice
    case .newSecret, .confirm: throw End.unable
    }
    let question = QuestionText.question(kind, open.inquiry, isSystem: open.isSystem, told: told, prompt: text)
    // The question shows all that was told before.
    afterAnswer = nil
    guard let answer = try ask(question, while: prompt.open) else { return nil }
    afterAnswer = []
    switch consume answer {
    case .typed(let secret):
      hasComposed = ComposedLetters.areIn(secret)
      return secret
    case .yes: return Self.letter("y")
    case .no: return Self.letter("n")
    default: throw End.dismissed
    }
  }

  private static func letter(_ letter: StaticString) -> SecretBuffer {
    var buffer = SecretBuffer()
    buffer.append(letter)
    return buffer
  }

  /// Asks until the daemon withdraws the prompt; returns nil then.
  private func ask(_ question: Question, while prompt: OpenQuestion?) throws -> Answer? {
    guard let prompt, let watch = PromptWatch(prompt, open.end) else { return try ask(question) }
    // The thread of the watch reads the conversation, so it ends before anything else does.
    defer { watch.finish() }
    do { return try ask(question, until: watch.withdrawal) } catch End.overtaken { return nil }
  }

  /// - Parameter withdrawal: the signal to give up; nil stands for the end of the inquiry.
  private func ask(_ question: Question, until withdrawal: Withdrawal? = nil) throws -> Answer {
    shown?.clear()
    shown = nil
    for face in faces.all {
      do throws(FaceError) { return try face.ask(question, until: withdrawal ?? open.end) } catch {
        switch error {
        case .withdrawn: throw open.end.isRaised ? End.dismissed : End.overtaken
        case .unsuitable: break
        case .unavailable(let reason):
          StandardStream.errors.complain(AgentProgram.name, "\(face.name.rawValue): \(Printable.text(reason))")
        }
      }
    }
    throw End.unable
  }

  /// Shows a question that is answered elsewhere, with the first face that can show it.
  private func show() {
    let question = QuestionText.question(.presence, open.inquiry, isSystem: open.isSystem, told: told)
    shown?.clear()
    shown = faces.all.first { face in
      do throws(FaceError) {
        try face.show(question, dismissed: open.end)
        return true
      } catch {
        return false
      }
    }
  }
}
