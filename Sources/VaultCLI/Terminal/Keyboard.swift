internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The person at the terminal: questions go to `/dev/tty` and answers come from there, wherever standard input and
/// output lead.
///
/// Every way out of a question leaves the terminal as it was: an answer, end of file, control-C, a hang-up, and
/// control-Z with its continuation.
struct Keyboard: ~Copyable {
  /// The most bytes of a typed line. Nobody types so much, and the daemon would refuse it.
  private static let longest = 64 * 1024

  let terminal: Int32
  /// The advice if nobody can be asked.
  private let otherwise: String
  /// True for questions that decide about a typed value: control-C there ends the program.
  private let decides: Bool
  /// The daemon's question; nil for a question of the program itself.
  private let question: OpenQuestion?

  /// True if somebody reads the program's messages, so that a question makes sense.
  static let isAttended = isatty(STDERR_FILENO) == 1

  /// True if there is also a terminal for questions. A program that was started apart from a terminal may still write
  /// to it.
  static let canAsk = isAttended && (try? Keyboard(otherwise: "")) != nil

  /// Opens the terminal.
  ///
  /// - Parameters:
  ///   - decides: whether control-C ends the program even while a ``TypedValue`` is kept.
  ///   - question: the daemon's question that is put here, which the daemon may withdraw.
  /// - Throws: ``Failure`` with `otherwise` as the advice, if the program has no terminal, or if another job has it and
  ///   no shell is left.
  init(otherwise: String, decides: Bool = false, for question: OpenQuestion? = nil) throws(Failure) {
    // The terminal is nonblocking because control-C drops typed text: a read after a poll that saw the text would wait
    // forever. This program has its own file description, so the shell's stays as it is.
    terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard terminal >= 0, !OwnJob.isCutOff(from: terminal) else {
      if terminal >= 0 { close(terminal) }
      throw .unasked(advice: otherwise)
    }
    (self.otherwise, self.decides, self.question) = (otherwise, decides, question)
  }

  deinit { close(terminal) }

  /// Shows text, filtered by ``Printable/screen(_:)`` and laid out by ``Rows``.
  borrowing func show(_ text: String, _ patience: Output.Patience = .endless) throws(Failure) {
    let rows = Rows.lay(Printable.screen(text), columns: size.columns)
    try Output.write(unsafe rows.utf8.span.bytes, to: terminal, patience)
  }

  /// The size of the terminal.
  var size: (columns: Int, rows: Int) { Self.size(of: terminal) }

  /// Returns the size of a terminal; 80 columns and 24 rows if the terminal does not report it.
  static func size(of terminal: Int32) -> (columns: Int, rows: Int) {
    var size = winsize()
    // The structure is lent for the call, which writes no more than its size.
    guard unsafe ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows bytes as they are. They are too secret for a `String`.
  borrowing func show(_ bytes: RawSpan) throws(Failure) { try Output.write(bytes, to: terminal) }

  /// Asks, and reads a line without its newline; nil at end of file (control-D on an empty line) and if the question is
  /// canceled or withdrawn.
  ///
  /// - Parameter loss: what to say if a signal ends the program.
  borrowing func ask(
    _ text: String, _ style: TerminalModes.Style, ifEnded loss: String? = nil
  ) throws(Failure) -> SecretBuffer? {
    try awaitTurn()
    let signals = try SignalPipe()
    while !isWithdrawn {
      switch try attempt(text, style, signals) {
      case .line(let line): return line
      case .end: return nil
      case .signal(let number):
        if cancels(number) { return nil }
        if let loss, SignalPipe.ending.contains(number) { try? show("vault: \(loss)\n", .none) }
        signals.deliver(number)
      }
    }
    return nil
  }

  /// Returns true for control-C if it cancels the question alone, because a typed value is kept.
  borrowing func cancels(_ number: Int32) -> Bool { number == SIGINT && TypedValue.isKept && !decides }

  /// Waits until this job has the terminal. Signals have their effect meanwhile.
  borrowing func awaitTurn() throws(Failure) { try OwnJob.awaitTurn(on: terminal, otherwise: otherwise) }

  /// Asks a question for yes or no; any answer but yes is no.
  borrowing func confirm(_ question: String) throws(Failure) -> Bool {
    guard let answer = try ask("\(question) [y/N] ", .shown) else { return false }
    return answer.withBytes { bytes in
      bytes.byteCount > 0 && Span<UInt8>(_bytes: bytes)[0] | 0x20 == UInt8(ascii: "y")
    }
  }

  private enum Attempt: ~Copyable {
    case line(SecretBuffer)
    case end
    case signal(Int32)
  }

  /// Asks once. On return, the terminal has its earlier modes again.
  private func attempt(
    _ text: String, _ style: TerminalModes.Style, _ signals: borrowing SignalPipe
  ) throws(Failure) -> Attempt {
    // The modes are set first: text that is typed once the question shows is no longer dropped.
    let modes = try TerminalModes(style, of: terminal)
    // A signal from before the question must not cancel it later, together with typed text. The usual one is the
    // SIGCONT after a stop in the background.
    if let number = signals.next() {
      _ = consume modes
      return .signal(number)
    }
    try show(text, .until(signals.descriptor))
    var line = TypedLine(edits: style == .hidden)
    while true {
      switch try event(signals) {
      case .signal(let number):
        _ = consume modes
        try show("\n", .none)
        return .signal(number)
      case .withdrawn:
        // The rest of what is being typed must not become the answer to the next question.
        guard line.bytes.count > 0 || isTyping(signals) else {
          _ = consume modes
          try show("\n", .until(signals.descriptor))
          return .end
        }
        try show("\nvault: \(Self.withdrawal)\n", .until(signals.descriptor))
      case .told(let message):
        // The line in hand stays valid.
        try show("\n\(message)\n\(text)", .until(signals.descriptor))
        continue
      case .typed: break
      }
      var byte: UInt8 = 0
      let count = unsafe read(terminal, &byte, 1)
      if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
      let step = count == 1 ? line.take(byte) : .end
      if case .more = step {
        guard line.bytes.count <= Keyboard.longest else {
          drain(signals)
          _ = consume modes
          try show("\n", .none)
          throw Failure(
            .invalid, "the text is too long to be typed",
            style == .hidden ? "give it on standard input or from a file, with --password-stdin" : nil)
        }
        continue
      }
      _ = consume modes
      if style == .hidden || step == .end { try show("\n", .until(signals.descriptor)) }
      return step == .end || isWithdrawn ? .end : .line(line.finish())
    }
  }

  /// Reads and drops typed text until none has arrived for a moment, without showing it: a paste arrives at once, and
  /// nobody types so fast. None of it reaches the next question or the shell.
  ///
  /// - Parameter isKnown: whether more is known to come, which may take longer to arrive.
  /// - Returns: true if the text is more than line breaks, blanks and the mark at the end of a paste.
  @discardableResult
  func drain(_ signals: borrowing SignalPipe, isKnown: Bool = true) -> Bool {
    var modes = termios()
    // The modes from before the question return after it.
    if unsafe tcgetattr(terminal, &modes) == 0 {
      TerminalModes.apply(TerminalModes.changed(modes, for: .hidden), to: terminal, TCSADRAIN)
    }
    // The time is limited because something may hold a key down.
    let end = Moment.now() + 10_000
    var isMore = false
    let mark = Array(PasteMark.end.utf8)
    var matched = 0
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
    ]
    // One byte is read at a time, so that no more than that stays in memory.
    var byte: UInt8 = 0
    while Moment.now() < end, unsafe poll(&polled, 2, isMore || isKnown ? 500 : 100) > 0, polled[0].revents == 0,
      unsafe read(terminal, &byte, 1) == 1
    {
      if matched < mark.count, byte == mark[matched] {
        matched += 1
      } else if byte > 0x20 {
        isMore = true
      }
    }
    byte = 0
    return isMore
  }

  /// Waits until something is typed, or `other` is readable; returns a signal's number if one came first.
  func wait(_ signals: borrowing SignalPipe, or other: Int32? = nil) throws(Failure) -> Int32? {
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
      pollfd(fd: other ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&polled, 3, -1) < 0 {
      guard errno == EINTR else { throw Failure(.io, "cannot wait for the terminal: \(Output.describe(errno))") }
    }
    return signals.next()
  }

  /// Waits until nothing has been typed for a moment, and drops what was typed: a person may still be typing a secret,
  /// which the shell would show. The time is limited because something may hold a key down.
  borrowing func awaitSilence() {
    let end = Moment.now() + 10_000
    var polled = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    while Moment.now() < end, unsafe poll(&polled, 1, 500) > 0, polled.revents == Int16(POLLIN) {
      tcflush(terminal, TCIFLUSH)
    }
  }

  // MARK: A question that the daemon withdraws

  /// The message for a person who is typing the answer to a question that is withdrawn.
  private static let withdrawal = "the question was withdrawn; press Enter, which drops what you have typed"

  private enum Event {
    /// Something may have been typed.
    case typed
    case signal(Int32)
    /// The daemon has withdrawn the question. This comes once.
    case withdrawn
    /// The daemon has sent a message about the question, which is this line.
    case told(String)
  }

  private var isWithdrawn: Bool { question?.isWithdrawn == true }

  /// Waits until something is typed, a signal comes, the question is withdrawn, or the daemon has a message about it.
  private func event(_ signals: borrowing SignalPipe) throws(Failure) -> Event {
    if let event = look() { return event }
    if let number = try wait(signals, or: question?.descriptor) { return .signal(number) }
    return look() ?? .typed
  }

  /// Returns what the daemon has said about the question since the last look; nil if there is nothing new.
  private func look() -> Event? {
    guard let question, !question.isWithdrawn else { return nil }
    question.look()
    if question.isWithdrawn { return .withdrawn }
    guard let message = question.message() else { return nil }
    return .told(Questions.line(message))
  }

  /// Returns true if something is typed within a moment, by a person who has not seen yet that the question is
  /// withdrawn.
  private func isTyping(_ signals: borrowing SignalPipe) -> Bool {
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
    ]
    return unsafe poll(&polled, 2, 500) > 0 && polled[1].revents != 0
  }
}
