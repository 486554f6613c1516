internal import CLinux
internal import Glibc
internal import VaultModel

/// A line on a person's terminal that says how far a command is that takes longer than a second.
final class Progress {
  private let start = Progress.now()
  private var isShown = false

  /// Shows `text` in the place of what was shown before, once a second has passed.
  func show(_ text: String) {
    guard Keyboard.isAttended, Progress.now() - start >= 1 else { return }
    isShown = true
    // A line that wraps could not be taken back.
    let most = Keyboard.size(of: STDERR_FILENO).columns - 1
    put("\r\u{1B}[K\(TextWidth.cut(Printable.line(text), to: most))")
  }

  /// Takes the line away.
  func clear() {
    if isShown { put("\r\u{1B}[K") }
    isShown = false
  }

  /// The work waits for no terminal that control-S has stopped.
  private func put(_ text: String) { try? Output.write(unsafe text.utf8.span.bytes, to: STDERR_FILENO, .none) }

  /// Seconds on CLOCK_MONOTONIC.
  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}
