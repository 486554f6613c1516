internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Answers the questions of a conversation with the daemon: at the terminal, or from standard input line by line.
final class Answers {
  private var lines: InputLines?
  private let json: Bool
  /// A recovery code that was made and confirmed without a person.
  private var recoveryCode: SecretBuffer?

  convenience init(_ options: SecretOptions, json: Bool) { self.init(fromInput: options.passwordStdin, json: json) }

  /// - Parameters:
  ///   - fromInput: whether standard input answers, one line a question.
  ///   - json: whether a recovery code is to go into JSON and not onto a line of its own.
  init(fromInput: Bool, json: Bool) {
    lines = fromInput ? InputLines(limit: 64 * 1024) : nil
    self.json = json
  }

  /// The answer to one question; nil cancels.
  func answer(_ prompt: borrowing Prompt) throws -> SecretBuffer? {
    if !prompt.style.wantsAnswer { return show(prompt) }
    if prompt.style == .confirm, lines != nil { return try confirmByItself(prompt) }
    if lines != nil { return try nextLine(prompt) }
    let keyboard = try Keyboard(otherwise: "give --password-stdin and the secret on standard input")
    let question = Answers.line(prompt)
    switch prompt.style {
    case .newSecret: return try Answers.twice("\(question): ", "Again: ", keyboard)
    case .confirm:
      try show(prompt, question, keyboard)
      return try keyboard.ask("Recovery code: ", .shown)
    case .visible: return try keyboard.ask("\(question): ", .shown)
    case .secret, .info, .error: return try keyboard.ask("\(question): ", .hidden)
    }
  }

  /// Writes the recovery code that was made, if one was.
  func writeRecoveryCode(to writer: inout JSONWriter) {
    switch recoveryCode {
    case .some(let code):
      writer.key("recovery_code")
      code.withBytes { writer.secret($0) }
    case .none: break
    }
  }

  private func nextLine(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    guard let line = try lines?.next() else {
      throw Failure(
        .usage,
        "standard input ended before \(Printable.quoted(prompt.text)) was answered", "give one line for each question")
    }
    return line
  }

  /// Shows what wants no answer, beside the questions or, where nobody sits, where messages go.
  private func show(_ prompt: borrowing Prompt) -> SecretBuffer? {
    if lines == nil, let keyboard = try? Keyboard(otherwise: "") {
      try? keyboard.show(Answers.line(prompt) + "\n")
    } else {
      Output.note(Printable.text(prompt.text))
    }
    return nil
  }

  /// The daemon's words, on a line that says where it comes from, as do all ``Rows`` of it: nothing that it words can pass
  /// for the shell's prompt or another program's.
  private static func line(_ prompt: borrowing Prompt) -> String { "vault: \(Printable.text(prompt.text))" }

  /// Shows a recovery code on a line of its own.
  private func show(_ prompt: borrowing Prompt, _ question: String, _ keyboard: borrowing Keyboard) throws(Failure) {
    switch prompt.code {
    case .some(let code):
      try keyboard.show("\(question):\n\n    ")
      try code.withBytes { bytes throws(Failure) in try keyboard.show(bytes) }
      try keyboard.show("\n\n")
    case .none: try keyboard.show("\(question):\n")
    }
  }

  /// Without a person the output is where a recovery code is written down.
  private func confirmByItself(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    switch prompt.code {
    case .some(let code):
      let copy = code.withBytes { SecretBuffer(copying: $0) }
      if json {
        recoveryCode = code.withBytes { SecretBuffer(copying: $0) }
      } else {
        try code.withBytes { bytes throws(Failure) in try Output.write(bytes) }
        try Output.text("\n")
      }
      return copy
    case .none: return nil
    }
  }

  /// Asks for a new secret until two entries agree, three times at most.
  static func twice(
    _ question: String, _ again: String, _ keyboard: borrowing Keyboard
  ) throws(Failure) -> SecretBuffer? {
    for _ in 1...3 {
      guard let first = try keyboard.ask(question, .hidden), let second = try keyboard.ask(again, .hidden) else {
        return nil
      }
      if first.isEqual(to: second) { return first }
      try keyboard.show("The two are not the same.\n")
    }
    throw Failure(.invalid, "the two entries differed three times", "start again")
  }
}

extension SecretBuffer {
  /// True when both hold the same bytes, compared in time that depends on the length alone.
  borrowing func isEqual(to other: borrowing SecretBuffer) -> Bool {
    guard count == other.count else { return false }
    return withBytes { left in
      other.withBytes { right in
        let (left, right) = (Span<UInt8>(_bytes: left), Span<UInt8>(_bytes: right))
        return left.indices.reduce(UInt8(0)) { $0 | (left[$1] ^ right[$1]) } == 0
      }
    }
  }
}
