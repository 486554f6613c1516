internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The answers to the questions for secrets that the files of a source need.
final class ImportAnswers {
  private let keyFile: String?
  private var lines: InputLines?
  /// True once a secret was given.
  private(set) var hasAnswered = false

  /// - Parameters:
  ///   - fromInput: whether standard input answers, one line for each question for a password.
  ///   - keyFile: the path of the key file; nil if there is none.
  init(fromInput: Bool, keyFile: String?) {
    self.keyFile = keyFile
    lines = fromInput ? InputLines(limit: ImportCall.longestSecret) : nil
  }

  /// Answers a question; nil if there is no secret.
  func answer(_ question: ImportQuestion) throws(Failure) -> SecretBuffer? {
    let answer: SecretBuffer?
    switch question.kind {
    case .password: answer = try password(question)
    // The same key file would be as wrong as before.
    case .keyFile: answer = question.isAgain ? nil : try key()
    }
    if answer != nil { hasAnswered = true }
    return answer
  }

  private func password(_ question: ImportQuestion) throws(Failure) -> SecretBuffer? {
    if lines != nil { return try lines?.next() }
    guard Keyboard.canAsk else { return nil }
    let keyboard = try Keyboard(otherwise: "give --password-stdin or --key-file")
    let hush = try Hush(of: keyboard.terminal)
    defer { _ = hush }
    if question.isAgain { try keyboard.show("vault: that is not the password\n") }
    // A database may have a key file and no password.
    let text = "Password of \(Printable.quoted(question.file)): "
    guard let typed = try Answers.usable(text, keyboard, mayBeEmpty: keyFile != nil) else {
      throw Failure(Fault.cancelled)
    }
    return typed
  }

  private func key() throws(Failure) -> SecretBuffer? {
    guard let keyFile else { return nil }
    return try FileInput.readFile(keyFile, limit: ImportCall.longestSecret, ofMore: "name another key file")
  }
}
