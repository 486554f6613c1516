internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

// The questions for a text of several lines.
extension Keyboard {
  /// The most bytes of a line that the kernel's line buffer passes on; it silently drops the rest.
  private static let kernelLine = 4095

  /// Asks, and reads lines up to control-D on an empty one; nil if there is no text before that. Each line keeps its
  /// line break. If typed text does not show, control-D ends the text even in the middle of a line.
  ///
  /// Typed text is kept if the program is stopped and continues.
  /// - Parameter limit: the most bytes of the text.
  borrowing func askLines(
    _ question: String, _ style: TerminalModes.Style, limit: Int
  ) throws(Failure) -> SecretBuffer? {
    try awaitTurn()
    let signals = try SignalPipe()
    var text = LinesTyped(limit: limit)
    while true {
      guard let number = try attempt(question, style, signals, &text) else { break }
      if cancels(number) { return nil }
      if text.lines > 0 { tellLoss(number) }
      signals.deliver(number)
    }
    if style == .hidden, text.lines > 0 { try show("\(Self.count(text.lines)).\n", .until(signals.descriptor)) }
    return text.finish()
  }

  /// Asks, and reads text that does not show: one line without its newline, or a pasted text in PEM with all of its
  /// lines up to control-D on an empty one. Nil at end of file (control-D on an empty line).
  ///
  /// - Parameters:
  ///   - limit: the most bytes of the text.
  ///   - isAgain: whether the person has typed the text once, at another question.
  /// - Throws: also if more than one line comes at once, because the first line alone is not what the person meant.
  borrowing func askText(_ question: String, limit: Int, isAgain: Bool = false) throws(Failure) -> SecretBuffer? {
    try awaitTurn()
    let signals = try SignalPipe()
    var text = LinesTyped(limit: limit)
    while true {
      guard let number = try attempt(question, .hidden, signals, &text, endsWithLine: true) else { break }
      if cancels(number) { return nil }
      if isAgain || text.lines > 0 { tellLoss(number) }
      signals.deliver(number)
    }
    if text.isPEM {
      try show("\(Self.count(text.lines)).\n", .until(signals.descriptor))
    } else {
      try show("\n", .until(signals.descriptor))
      if text.isCut {
        throw Failure(
          .invalid, "several lines came at once instead of one, pasted or typed ahead, so nothing was stored",
          "type each line at its question; for text of several lines give --kind note, or name its file with --file")
      }
      text.dropBreak()
    }
    return text.finish(orEmpty: text.lines > 0)
  }

  /// Says that typed text is gone, if a signal is about to end the program. If a ``TypedValue`` is kept, it says so
  /// itself.
  private func tellLoss(_ number: Int32) {
    guard SignalPipe.ending.contains(number), !TypedValue.isKept else { return }
    try? show("vault: interrupted; what was typed is gone\n", .none)
  }

  private static func count(_ lines: Int) -> String { Counted.text(lines, "line") }

  /// Reads until the end of the text or until a signal. On return, the terminal has its earlier modes again.
  ///
  /// - Parameter endsWithLine: whether the text ends with its first line, unless that line begins a text in PEM.
  /// - Returns: the number of the signal; nil at the end of the text.
  private func attempt(
    _ question: String, _ style: TerminalModes.Style, _ signals: borrowing SignalPipe, _ text: inout LinesTyped,
    endsWithLine: Bool = false
  ) throws(Failure) -> Int32? {
    let modes = try TerminalModes(style, of: terminal)
    if let number = signals.next() {
      _ = consume modes
      return number
    }
    try show(question, .until(signals.descriptor))
    if text.lines > 0 { try show("(\(Self.count(text.lines)) so far)\n", .until(signals.descriptor)) }
    var signal: Int32?
    while true {
      var byte: UInt8 = 0
      let count = unsafe read(terminal, &byte, 1)
      if count < 0 && errno == EINTR { continue }
      let isEmpty = count < 0 && errno == EAGAIN
      if signal == nil { signal = signals.next() }
      // Text that follows a control-C at once, as in a paste, is no answer.
      if let number = signal, SignalPipe.ending.contains(number) {
        _ = consume modes
        text.dropPart()
        try show("\n", .none)
        return number
      }
      if isEmpty {
        // Lines that were typed before the signal are kept.
        if let signal {
          _ = consume modes
          text.dropPart()
          try show("\n", .none)
          return signal
        }
        signal = try wait(signals)
        continue
      }
      // If typed text shows, the kernel handles control-D itself and passes on no byte for it.
      let isEnd: Bool
      do throws(Failure) {
        isEnd = if count == 1 { try text.take(byte, edits: style == .hidden) } else { true }
      } catch {
        drain(signals)
        _ = consume modes
        try show("\n", .none)
        throw error
      }
      if isEnd {
        _ = consume modes
        return nil
      }
      if endsWithLine, text.lines == 1, byte == 0x0A || byte == 0x0D {
        guard text.isPEM else {
          // The kernel dropped what was typed before the signal, so this is no whole line.
          if let signal {
            _ = consume modes
            text.dropLine()
            try show("\n", .none)
            return signal
          }
          text.isCut = drain(signals, isKnown: false)
          _ = consume modes
          return nil
        }
        try show("\nIt has several lines: end it with control-D on an empty line.\n", .until(signals.descriptor))
      }
      if style == .shown, text.part > Self.kernelLine - 1 {
        drain(signals)
        _ = consume modes
        try show("\n", .none)
        throw Failure(.invalid, "line \(text.lines + 1) is too long to be typed", "give it on standard input or --file")
      }
    }
  }
}

/// A text while it is typed.
private struct LinesTyped: ~Copyable {
  private var bytes = SecretBuffer(capacity: 4096)
  private let limit: Int
  /// The number of complete lines in the text.
  private(set) var lines = 0
  /// The bytes of the line that is being typed.
  private(set) var part = 0
  /// True if more was pasted after the line.
  var isCut = false

  init(limit: Int) { self.limit = limit }

  /// Takes the byte of a key; returns true at the end of the text. With `edits`, this type handles backspace,
  /// control-W, control-U and control-D. The marks around a paste are left out.
  mutating func take(_ byte: UInt8, edits: Bool) throws(Failure) -> Bool {
    switch byte {
    case 0x04 where edits: return true
    case 0x15 where edits: dropPart()
    case 0x17 where edits: dropWord()
    case 0x08 where edits, 0x7F where edits: dropCharacter()
    case 0x0A, 0x0D:
      bytes.append(0x0A)
      lines += 1
      part = 0
    default:
      guard bytes.count < limit else {
        throw Failure(.invalid, "the text has more than \(limit) bytes", "store it in parts")
      }
      bytes.append(byte)
      part += 1
      if byte == UInt8(ascii: "~"), PasteMark.ends(bytes) {
        bytes.truncate(to: bytes.count - PasteMark.count)
        part -= PasteMark.count
      }
    }
    return false
  }

  /// Removes the one line that was typed.
  mutating func dropLine() {
    bytes.removeAll()
    (lines, part) = (0, 0)
  }

  /// Removes the line that is being typed.
  mutating func dropPart() {
    bytes.truncate(to: bytes.count - part)
    part = 0
  }

  /// Removes the last word of the line that is being typed.
  private mutating func dropWord() {
    let start = bytes.count - part
    bytes.truncate(to: bytes.countWithoutLastWord(from: start))
    part = bytes.count - start
  }

  private mutating func dropCharacter() {
    while part > 0 {
      let last = bytes.withBytes { Span<UInt8>(_bytes: $0)[$0.byteCount - 1] }
      bytes.truncate(to: bytes.count - 1)
      part -= 1
      // The continuation bytes of UTF-8 belong to the byte before them.
      if last & 0xC0 != 0x80 { return }
    }
  }

  /// True for a text that begins like PEM.
  var isPEM: Bool {
    bytes.withBytes { bytes in
      let (text, begin) = (Span<UInt8>(_bytes: bytes), "-----BEGIN ".utf8.span)
      return text.count >= begin.count && begin.indices.allSatisfy { text[$0] == begin[$0] }
    }
  }

  /// Removes the line break at the end.
  mutating func dropBreak() {
    guard lines > 0, part == 0 else { return }
    bytes.truncate(to: bytes.count - 1)
  }

  /// Returns the text; nil if nothing was typed. With `orEmpty`, an empty text is returned as well.
  consuming func finish(orEmpty: Bool = false) -> SecretBuffer? {
    if bytes.count == 0, !orEmpty { return nil }
    return bytes
  }
}
