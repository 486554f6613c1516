internal import Glibc
internal import VaultModel
internal import VaultWire

/// The value that a command takes for an item: from a file, from standard input, or typed by a person.
struct ValueInput {
  /// The largest value the daemon takes, 1 MiB; one byte more is read so that it can say so.
  static let limit = 1 << 20

  let name: String
  /// The file to read it from, byte for byte; `-` is standard input.
  let file: String?
  /// True when a line break at the end of a single line is meant.
  let isExact: Bool
  /// False where an empty value would replace another one, and nobody has said that it may: what should have given it has
  /// failed.
  let mayBeEmpty: Bool
  /// True where the kind that is told may be another one's.
  var isKindOpen = false
  /// True once a line break at the end was left out.
  private(set) var hasCutBreak = false

  init(name: String, file: String?, isExact: Bool, mayBeEmpty: Bool, isKindOpen: Bool = false) {
    (self.name, self.file, self.isExact) = (name, file, isExact)
    (self.mayBeEmpty, self.isKindOpen) = (mayBeEmpty, isKindOpen)
  }

  /// True when a person types it here.
  var isTyped: Bool { file == nil && isatty(STDIN_FILENO) == 1 }

  /// Reads the value.
  ///
  /// - Parameter kind: tells the kind that the item will be of, where that matters.
  /// - Throws: also where it is empty and must not be.
  mutating func read(kind: () throws(Failure) -> ItemKind) throws(Failure) -> SecretBuffer {
    var value = try given(kind)
    // A program of another system that has nothing to give may give that alone.
    if !isExact, value.isByteOrderMark, try kind() != .blob { value.truncate(to: 0) }
    guard value.count > 0 || mayBeEmpty else {
      let input = file.map { $0 == "-" ? "standard input" : Printable.text($0) } ?? "standard input"
      let source = isTyped ? "nothing was typed" : "\(input) is empty"
      throw Failure(
        .invalid, "\(source), so nothing was stored for \(Printable.quoted(name))",
        Self.adviceOnEmpty(isKindOpen ? nil : try kind()))
    }
    return value
  }

  /// Says on a terminal that a line break was left out, once the value is stored.
  func noteCutBreak() {
    if hasCutBreak, Keyboard.isAttended { Output.note("the line break at the end is not stored; --exact keeps it") }
  }

  /// The advice to somebody who would replace a value by an empty one.
  ///
  /// - Parameter kind: nil where it is not known.
  static func adviceOnEmpty(_ kind: ItemKind?) -> String {
    guard let kind, !kind.mayBeEmpty else { return "give --allow-empty if an empty value is meant" }
    return "no item of kind \(kind.rawValue) is empty, so the old value stays"
  }

  private mutating func given(_ kind: () throws(Failure) -> ItemKind) throws(Failure) -> SecretBuffer {
    if let file { return try FileInput.readFile(file, limit: ValueInput.limit) }
    guard isTyped else { return try piped(kind) }
    let keyboard = try Keyboard(otherwise: "give the value on standard input")
    if let style = try kind().linesStyle { return try lines(keyboard, style) }
    guard let typed = try line(keyboard) else { throw Failure(Fault.cancelled) }
    return typed
  }

  /// A line that is typed twice. What nobody types is pasted, so it is asked for once: its kind checks it.
  private func line(_ keyboard: borrowing Keyboard) throws(Failure) -> SecretBuffer? {
    try Answers.twice("Value of \(Printable.quoted(name)): ", "Again: ", keyboard, pasting: ValueInput.limit)
  }

  /// The lines that are typed or pasted. They are asked for once: nobody types a key twice, and its kind checks it.
  private func lines(_ keyboard: borrowing Keyboard, _ style: TerminalModes.Style) throws(Failure) -> SecretBuffer {
    let question = "Value of \(Printable.quoted(name)), ended by control-D on an empty line:\n"
    guard let typed = try keyboard.askLines(question, style, limit: ValueInput.limit) else {
      throw Failure(Fault.cancelled)
    }
    return typed
  }

  /// All of standard input, but for a line break at the end of what is one line: `echo` puts it there, and nobody means it.
  private mutating func piped(_ kind: () throws(Failure) -> ItemKind) throws(Failure) -> SecretBuffer {
    var value = try FileInput.readAll(STDIN_FILENO, limit: ValueInput.limit, name: "standard input")
    let end = value.withBytes { FinalBreak.count(in: $0) }
    guard end > 0, !isExact, try kind().hasOneLine else { return value }
    value.truncate(to: value.count - end)
    hasCutBreak = true
    return value
  }
}

extension SecretBuffer {
  /// True for a byte order mark and nothing else.
  fileprivate var isByteOrderMark: Bool { withBytes { $0.byteCount == 3 && $0.hasByteOrderMark } }
}

extension ItemKind {
  /// True for a kind that an empty value may be of.
  fileprivate var mayBeEmpty: Bool {
    switch self {
    case .note, .blob, .wifi: true
    case .password, .apiKey, .deviceToken, .pairingCode, .tlsKey, .certificate, .sshKey, .totp: false
    }
  }

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
