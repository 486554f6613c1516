internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

// The value that `vault set` stores, and where it comes from.
extension SetRequest {
  /// The value to store; nil when the daemon draws or keeps it.
  func value(_ session: Session) throws(Failure) -> SecretBuffer? {
    if command.generator.generate != nil || command.keepValue { return nil }
    if let file = command.file { return try FileInput.readFile(file, limit: SetRequest.valueLimit) }
    guard isatty(STDIN_FILENO) == 1 else { return try piped(session) }
    let keyboard = try Keyboard(otherwise: "give the value on standard input")
    try checkBeforeAsking(session)
    if let style = try kind(session).linesStyle { return try lines(keyboard, style) }
    guard let typed = try Answers.twice("Value of \(Printable.quoted(name)): ", "Again: ", keyboard) else {
      throw Failure(Fault.cancelled)
    }
    return typed
  }

  /// The lines that are typed or pasted. They are asked for once: nobody types a key twice, and its kind checks it.
  private func lines(_ keyboard: borrowing Keyboard, _ style: TerminalModes.Style) throws(Failure) -> SecretBuffer {
    let question = "Value of \(Printable.quoted(name)), ended by control-D on an empty line:\n"
    guard let typed = try keyboard.askLines(question, style, limit: SetRequest.valueLimit) else {
      throw Failure(Fault.cancelled)
    }
    return typed
  }

  /// All of standard input, but for a line break at the end of what is one line: `echo` puts it there, and nobody means it.
  private func piped(_ session: Session) throws(Failure) -> SecretBuffer {
    var value = try FileInput.readAll(STDIN_FILENO, limit: SetRequest.valueLimit, name: "standard input")
    let end = value.withBytes { FinalBreak.count(in: $0) }
    guard end > 0, !command.exact, try kind(session).hasOneLine else { return value }
    value.truncate(to: value.count - end)
    if Keyboard.isAttended { Output.note("the line break at the end is not stored; --exact keeps it") }
    return value
  }

  /// The kind that the item will be of.
  private func kind(_ session: Session) throws(Failure) -> ItemKind {
    if let kind = command.kind.flatMap(ItemKind.init(rawValue:)) { return kind }
    guard command.update else { return .password }
    do throws(Failure) {
      let item = try session.unlocking { vault in try vault.show(name) }
      // One that this program does not know is left alone.
      return ItemKind(rawValue: item.kind) ?? .blob
    } catch {
      guard error.exit == .missing else { throw error }
      return .password
    }
  }
}

extension ItemKind {
  /// The way in which a value of several lines is typed; nil for a kind of one line, and for any bytes. Keys do not show: they
  /// are pasted.
  fileprivate var linesStyle: TerminalModes.Style? {
    switch self {
    case .note, .certificate: .shown
    case .tlsKey, .sshKey: .hidden
    default: nil
    }
  }
}

/// The line break behind a single line of text.
enum FinalBreak {
  /// Its size in bytes, when there is one behind UTF-8 without any other control character; otherwise 0.
  static func count(in bytes: RawSpan) -> Int {
    let text = Span<UInt8>(_bytes: bytes)
    guard let last = text.indices.last, text[last] == 0x0A else { return 0 }
    let count = last > 0 && text[last - 1] == 0x0D ? 2 : 1
    let rest = bytes.extracting(..<(text.count - count))
    // Tabs and line breaks are text elsewhere.
    let line = Span<UInt8>(_bytes: rest)
    return Content.isText(rest) && line.indices.allSatisfy { line[$0] >= 0x20 } ? count : 0
  }
}
