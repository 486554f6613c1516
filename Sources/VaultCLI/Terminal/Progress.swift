internal import CLinux
internal import Glibc
internal import VaultModel

/// A line on a person's terminal with the progress of a command that takes longer than a second.
final class Progress {
  private let start = Progress.now()
  private var isShown = false

  /// Shows `text` in place of the earlier text, once a second has passed. Nobody makes the text if it is not shown.
  func show(_ text: @autoclosure () -> String) {
    guard Keyboard.isAttended, Progress.now() - start >= 1 else { return }
    isShown = true
    // A line that wraps could not be removed.
    let most = Keyboard.size(of: STDERR_FILENO).columns - 1
    put("\r\u{1B}[K\(TextWidth.cut(Printable.line(text()), to: most))")
  }

  /// Removes the line.
  func clear() {
    if isShown { put("\r\u{1B}[K") }
    isShown = false
  }

  /// Writes to the terminal. The work does not wait for a terminal that control-S has stopped.
  private func put(_ text: String) { try? Output.write(unsafe text.utf8.span.bytes, to: STDERR_FILENO, .none) }

  /// The time in seconds on CLOCK_MONOTONIC.
  private static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}
