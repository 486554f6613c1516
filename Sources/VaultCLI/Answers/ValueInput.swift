internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The value for an item: read from a file or from standard input, or typed by a person.
struct ValueInput {
  /// The largest value that the daemon takes: 1 MiB. One byte more may be read, so that the daemon reports the excess.
  static let limit = 1 << 20

  let name: String
  /// The file with the value, read byte for byte; `-` means standard input.
  let file: String?
  /// True if a line break at the end of a single line belongs to the value.
  let isExact: Bool
  /// False if an empty value would replace another one and nobody allowed that: the source of the value has probably
  /// failed.
  let mayBeEmpty: Bool
  /// True if nobody has named a kind, so that the item's kind may differ from the one that `read(kind:)` is told.
  var isKindOpen = false
  /// True if the value could stay as it is, because the command changes something else as well.
  var mayStay = false
  /// True once a line break at the end was left out.
  private(set) var hasCutBreak = false
  /// True once a value was read that begins with a byte order mark.
  private(set) var hasMark = false

  init(name: String, file: String?, isExact: Bool, mayBeEmpty: Bool, isKindOpen: Bool = false) {
    (self.name, self.file, self.isExact) = (name, file, isExact)
    (self.mayBeEmpty, self.isKindOpen) = (mayBeEmpty, isKindOpen)
  }

  /// True if a person types the value here.
  var isTyped: Bool { file == nil && isatty(STDIN_FILENO) == 1 }

  /// Reads the value.
  ///
  /// - Parameter kind: returns the kind that the item will have; called only if the kind matters.
  /// - Throws: also if the value is empty and must not be.
  mutating func read(kind: () throws(Failure) -> ItemKind) throws(Failure) -> SecretBuffer {
    var value = try given(kind)
    // A program from another system may write a byte order mark even if it has no text. Such input counts as empty.
    if !isExact, value.isByteOrderMark, try kind() != .blob { value.truncate(to: 0) }
    if !isExact, value.withBytes({ $0.hasByteOrderMark }), value.count > 3 { hasMark = try kind() != .blob }
    guard value.count > 0 || mayBeEmpty else {
      let input = file.map { $0 == "-" ? "standard input" : Printable.text($0) } ?? "standard input"
      let source = isTyped ? "nothing was typed" : "\(input) is empty"
      throw Failure(
        .invalid, "\(source), so nothing was stored for \(Printable.quoted(name))",
        Self.adviceOnEmpty(isKindOpen ? nil : try kind(), mayStay: mayStay))
    }
    return value
  }

  /// Says on a terminal that a line break was left out, or that a byte order mark was not. Called once the value is
  /// stored.
  func noteCutBreak() {
    if hasMark, Keyboard.isAttended {
      Output.note("the value begins with a byte order mark, as files from Windows do, and it is stored with it")
    }
    if hasCutBreak, Keyboard.isAttended { Output.note("the line break at the end is not stored; --exact keeps it") }
  }

  /// The advice for a person who gave an empty value where another may be replaced.
  ///
  /// - Parameters:
  ///   - kind: nil if it is not known.
  ///   - mayStay: whether the value could stay as it is.
  static func adviceOnEmpty(_ kind: ItemKind?, mayStay: Bool = false) -> String {
    let kept = mayStay ? "give --keep-value if the value stays as it is" : nil
    guard let kind, !kind.facts.mayBeEmpty else {
      let empty = "--allow-empty to store an empty value"
      return kept.map { "\($0), or \(empty)" } ?? "give \(empty)"
    }
    let never = "an item of kind \(kind.rawValue) is never empty"
    return kept.map { "\($0); \(never)" } ?? never
  }

  private mutating func given(_ kind: () throws(Failure) -> ItemKind) throws(Failure) -> SecretBuffer {
    if let file { return try FileInput.readFile(file, limit: ValueInput.limit) }
    guard isTyped else { return try piped(kind) }
    let keyboard = try Keyboard(otherwise: "give the value on standard input")
    if let style = try kind().linesStyle { return try lines(keyboard, style) }
    var takesEmpty = true
    if !isKindOpen { takesEmpty = try kind().facts.mayBeEmpty }
    guard let typed = try line(keyboard, mayBeEmpty: mayBeEmpty && takesEmpty) else { throw Failure(Fault.cancelled) }
    return typed
  }

  /// Reads a line that is typed twice. Text that nobody types, such as a key, is pasted and asked for once: its kind
  /// checks it.
  private func line(_ keyboard: borrowing Keyboard, mayBeEmpty: Bool) throws(Failure) -> SecretBuffer? {
    try Answers.twice(
      "Value of \(Printable.quoted(name)): ", "Again: ", keyboard, pasting: ValueInput.limit, mayBeEmpty: mayBeEmpty)
  }

  /// Reads lines that are typed or pasted. They are asked for once: nobody types a key twice, and its kind checks it.
  private func lines(_ keyboard: borrowing Keyboard, _ style: TerminalModes.Style) throws(Failure) -> SecretBuffer {
    let question = "Value of \(Printable.quoted(name)), ended by control-D on an empty line:\n"
    guard let typed = try keyboard.askLines(question, style, limit: ValueInput.limit) else {
      throw Failure(Fault.cancelled)
    }
    if typed.hasControlKeys {
      Output.note(
        "the text has control characters in it, such as those of an arrow key; \(Hint.vault("edit")) shows them")
    }
    return typed
  }

  /// Reads all of standard input. The line break after a single line is left out: `echo` writes it, and nobody means
  /// it.
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
  /// The way in which a value of several lines is typed; nil for kinds of one line or of arbitrary bytes. Secret keys
  /// do not show.
  fileprivate var linesStyle: TerminalModes.Style? {
    switch facts.form {
    case .text: .shown
    case .pem(let isSecret): isSecret ? .hidden : .shown
    case .line, .bytes: nil
    }
  }
}

/// The line break after a single line of text.
enum FinalBreak {
  /// Returns the line break's size in bytes, if it ends UTF-8 text without any other control character; otherwise 0.
  static func count(in bytes: RawSpan) -> Int {
    let text = Span<UInt8>(_bytes: bytes)
    guard let last = text.indices.last, text[last] == 0x0A else { return 0 }
    let count = last > 0 && text[last - 1] == 0x0D ? 2 : 1
    let rest = bytes.extracting(..<(text.count - count))
    // `isText` is also true for text with tabs and line breaks.
    let line = Span<UInt8>(_bytes: rest)
    return rest.isText && line.indices.allSatisfy { line[$0] >= 0x20 } ? count : 0
  }
}
