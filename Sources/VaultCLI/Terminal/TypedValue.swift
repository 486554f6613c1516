internal import CLinux
internal import Glibc

/// True while a typed value waits to be stored. It is a plain value, because signal handlers read it.
nonisolated(unsafe) private var isTypedValueKept = false

/// The time between the typing of a value and its storing, in which no way out loses the value silently.
///
/// In that time, control-C at a question cancels that question alone, as control-D does: the person then decides about
/// the value (``SecondChance``). A signal that ends the program first says on the terminal that the value is gone. A
/// second such time within another one changes nothing.
struct TypedValue: ~Copyable {
  /// The dispositions of signals before this time; empty while it has not begun.
  private var earlier: [(number: Int32, handler: __sighandler_t?)] = []

  /// - Parameter isTyped: false if the value is still to be typed, or is not typed at all.
  init(isTyped: Bool) {
    if isTyped { begin() }
  }

  deinit { Self.end(earlier) }

  mutating func begin() {
    guard !Self.isKept else { return }
    for number in SignalPipe.ending {
      let before = signal(number, Self.handler)
      earlier.append((number, before))
      if SignalPipe.isIgnoring(before) { signal(number, before) }
    }
    unsafe isTypedValueKept = true
  }

  mutating func end() {
    Self.end(earlier)
    earlier = []
  }

  private static func end(_ earlier: [(number: Int32, handler: __sighandler_t?)]) {
    guard !earlier.isEmpty else { return }
    unsafe isTypedValueKept = false
    for (number, handler) in earlier { signal(number, handler) }
  }

  static var isKept: Bool { unsafe isTypedValueKept }

  /// Says that the value is gone, if there is one: a signal is about to end the program. It makes only calls that a
  /// signal handler may make.
  static func tellLoss() {
    guard isKept else { return }
    // A terminal that control-S has stopped must not delay the end.
    var polled = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&polled, 1, 0) == 1, polled.revents & Int16(POLLOUT) != 0 else { return }
    // The text overwrites what the line shows, such as the `^C` of the key.
    let text: StaticString = "\r\u{1B}[Kvault: interrupted; what was typed is gone\n"
    _ = unsafe write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
  }

  /// The signal handler between two questions.
  private static let handler: __sighandler_t = { number in
    let code = errno
    Hush.lift()
    tellLoss()
    // The signal arrives once this handler has returned.
    signal(number, SIG_DFL)
    raise(number)
    errno = code
  }
}
