internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The way from one inquiry to its answer, on the asking thread.
final class Asking {
  /// The attempts at a password.
  private static let attempts = 3

  /// The end without an answer.
  private enum End: Error { case withdrawn, dismissed, unable }

  private let open: OpenInquiry
  private let faces: [any Face]
  private var vault: Vault
  private var told: [String] = []
  private var shown: (any Face)?

  init(_ open: OpenInquiry, _ faces: Faces) {
    self.open = open
    self.faces = faces.all
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
    if !isDismissed { StandardStream.errors.complain("vault-agent", "a question has no answer: \(error)") }
    // What is gone meanwhile needs no word.
    do throws(ClientError) { try vault.dismiss(open.inquiry.number, unable: !isDismissed) } catch {}
  }

  private func approve() throws {
    let number = open.inquiry.number
    let pid = open.inquiry.askers.first?.pid
    let question = QuestionText.question(
      .approval(session: pid != nil), open.inquiry, isSystem: open.isSystem)
    let approval: Vault.Approval
    switch try ask(question) {
    case .once: approval = Vault.Approval(uses: 1)
    case .session: approval = Vault.Approval(session: pid)
    case .always: approval = Vault.Approval(always: true)
    case .no:
      try vault.deny(number)
      return
    default: throw End.dismissed
    }
    if !open.isSystem { try converse { vault, answer in try vault.authenticateForGrants(answer: answer) } }
    try vault.approve(number, approval)
  }

  /// Holds a conversation, and begins it again after a wrong secret.
  private func converse(_ body: (Vault, Vault.Answer) throws -> Void) throws {
    for attempt in 1... {
      told = attempt == 1 ? [] : ["that was not it; attempt \(attempt) of \(Self.attempts)"]
      do {
        try body(vault) { prompt in try answer(prompt) }
        return
      } catch ClientError.fault(.authenticationFailed(_, let wait)) where attempt < Self.attempts {
        var polled = pollfd(fd: open.end.descriptor, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&polled, 1, Int32(clamping: wait)) > 0 { throw End.withdrawn }
      }
    }
  }

  private func answer(_ prompt: borrowing Prompt) throws -> SecretBuffer? {
    let text = Printable.text(prompt.text)
    let kind: Question.Kind
    switch prompt.style {
    case .info, .error:
      told.append(text)
      show()
      return nil
    case .secret: kind = .secret
    case .visible: kind = .visible
    case .choice: kind = .choice
    case .newSecret, .confirm: throw End.unable
    }
    let question = QuestionText.question(kind, open.inquiry, isSystem: open.isSystem, told: told, prompt: text)
    switch try ask(question) {
    case .typed(let secret): return secret
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

  private func ask(_ question: Question) throws -> Answer {
    shown?.clear()
    shown = nil
    for face in faces {
      do throws(FaceError) { return try face.ask(question, until: open.end) } catch {
        switch error {
        case .withdrawn: throw End.withdrawn
        case .unsuitable: break
        case .unavailable(let reason):
          StandardStream.errors.complain("vault-agent", "\(face.name.rawValue): \(Printable.text(reason))")
        }
      }
    }
    throw End.unable
  }

  /// Shows what is answered elsewhere, by the first face that can.
  private func show() {
    let question = QuestionText.question(.presence, open.inquiry, isSystem: open.isSystem, told: told)
    shown?.clear()
    shown = faces.first { face in
      do throws(FaceError) {
        try face.show(question, dismissed: open.end)
        return true
      } catch {
        return false
      }
    }
  }
}
