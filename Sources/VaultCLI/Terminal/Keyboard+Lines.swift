internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

// A text of several lines.
extension Keyboard {
  /// The most bytes of a line that the kernel's own line buffer hands over; it drops the rest without a word.
  private static let kernelLine = 4095

  /// Asks, and reads lines up to control-D on an empty one; nil when there is nothing before that. Each line has its line
  /// break. Where it is typed without echo, control-D also ends a line, and the text with it.
  ///
  /// What was typed stays when the program is stopped and goes on.
  /// - Parameter limit: the most bytes of it.
  borrowing func askLines(
    _ question: String, _ style: TerminalModes.Style, limit: Int
  ) throws(Failure) -> SecretBuffer? {
    let signals = try SignalPipe()
    var text = LinesTyped(limit: limit)
    while true {
      guard let number = try attempt(question, style, signals, &text) else { break }
      signals.deliver(number)
    }
    if style == .hidden, text.lines > 0 { try show("\(Self.count(text.lines)).\n", .until(signals.descriptor)) }
    return text.finish()
  }

  /// Asks, and reads what is typed without echo: a line, without its newline, or a text in PEM that is pasted, with all of its
  /// lines up to control-D on an empty one. Nil at end of file (control-D on an empty line).
  ///
  /// - Parameter limit: the most bytes of it.
  /// - Throws: also where more is pasted than the line: what was meant is not its beginning.
  borrowing func askText(_ question: String, limit: Int) throws(Failure) -> SecretBuffer? {
    let signals = try SignalPipe()
    var text = LinesTyped(limit: limit)
    while true {
      guard let number = try attempt(question, .hidden, signals, &text, endsWithLine: true) else { break }
      signals.deliver(number)
    }
    if text.isPEM {
      try show("\(Self.count(text.lines)).\n", .until(signals.descriptor))
    } else {
      try show("\n", .until(signals.descriptor))
      if text.isCut {
        throw Failure(
          .invalid, "what was pasted has several lines, and one was asked for, so nothing was stored",
          "give --kind note for a text of several lines, or the file it is in with --file")
      }
      text.dropBreak()
    }
    return text.finish(orEmpty: text.lines > 0)
  }

  private static func count(_ lines: Int) -> String { Counted.text(lines, "line") }

  /// Reads until the end of the text, or until a signal, whose number it answers. The terminal is in order again then.
  ///
  /// - Parameter endsWithLine: whether the text ends with its first line, unless that is the first of a text in PEM.
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
      if count < 0 && errno == EAGAIN {
        // Lines that were typed before it came are kept.
        if let signal {
          _ = consume modes
          text.dropPart()
          try show("\n", .none)
          return signal
        }
        signal = try wait(signals)
        continue
      }
      // The kernel takes control-D for itself where it shows what is typed, and hands over no byte then.
      guard count == 1, try !text.take(byte, edits: style == .hidden) else {
        _ = consume modes
        return nil
      }
      if endsWithLine, text.lines == 1, byte == 0x0A || byte == 0x0D {
        guard text.isPEM else {
          text.isCut = hasMore(signals)
          _ = consume modes
          return nil
        }
        try show("\nIt has several lines: end it with control-D on an empty one.\n", .until(signals.descriptor))
      }
      if style == .shown, text.part > Self.kernelLine - 1 {
        throw Failure(.invalid, "line \(text.lines + 1) is too long to be typed", "give it on standard input or --file")
      }
    }
  }

  /// Reads and throws away what comes behind a line, until nothing has come for a moment: a paste comes at once, and nobody
  /// types so fast. Nothing of it reaches the next question or the shell.
  ///
  /// - Returns: true where that is more than line breaks and blanks.
  private func hasMore(_ signals: borrowing SignalPipe) -> Bool {
    // Not for ever: something may hold a key down.
    let end = Moment.now() + 10_000
    var isMore = false
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
    ]
    // One byte at a time, so that no more than that lies anywhere.
    var byte: UInt8 = 0
    while Moment.now() < end, unsafe poll(&polled, 2, isMore ? 500 : 100) > 0, polled[0].revents == 0,
      unsafe read(terminal, &byte, 1) == 1
    {
      if byte > 0x20 { isMore = true }
    }
    byte = 0
    return isMore
  }
}

/// A text as it is typed.
private struct LinesTyped: ~Copyable {
  private var bytes = SecretBuffer(capacity: 4096)
  private let limit: Int
  /// The whole lines in it.
  private(set) var lines = 0
  /// The bytes of the line that is being typed.
  private(set) var part = 0
  /// True for a line behind which more was pasted.
  var isCut = false

  init(limit: Int) { self.limit = limit }

  /// Takes what a key sent; true at the end of the text. With `edits`, backspace, control-U and control-D are ours to honour.
  mutating func take(_ byte: UInt8, edits: Bool) throws(Failure) -> Bool {
    switch byte {
    case 0x04 where edits: return true
    case 0x15 where edits: dropPart()
    case 0x08 where edits, 0x7F where edits: dropCharacter()
    case 0x0A, 0x0D:
      bytes.append(0x0A)
      lines += 1
      part = 0
    default:
      guard bytes.count < limit else {
        throw Failure(.invalid, "that is more than \(limit) bytes", "store it in parts")
      }
      bytes.append(byte)
      part += 1
    }
    return false
  }

  /// Takes back the line that is being typed.
  mutating func dropPart() {
    bytes.truncate(to: bytes.count - part)
    part = 0
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

  /// True for a text that begins as one in PEM does.
  var isPEM: Bool {
    bytes.withBytes { bytes in
      let (text, begin) = (Span<UInt8>(_bytes: bytes), "-----BEGIN ".utf8.span)
      return text.count >= begin.count && begin.indices.allSatisfy { text[$0] == begin[$0] }
    }
  }

  /// Leaves out the line break at the end.
  mutating func dropBreak() {
    guard lines > 0, part == 0 else { return }
    bytes.truncate(to: bytes.count - 1)
  }

  /// The text; nil where nothing was typed, but for an empty line with `orEmpty`.
  consuming func finish(orEmpty: Bool = false) -> SecretBuffer? {
    if bytes.count == 0, !orEmpty { return nil }
    return bytes
  }
}
