internal import Glibc
internal import VaultClient

/// A watch on a prompt of the daemon while a face asks it, on a thread of its own.
///
/// The daemon withdraws a prompt when it goes on to another one, or ends the conversation: no answer counts then, so
/// the face closes its dialog.
final class PromptWatch {
  /// The signal for the face. It is raised when the prompt is withdrawn, and when the inquiry ends.
  let withdrawal: Withdrawal
  private let over: Withdrawal
  private var thread: WorkThread?

  /// Begins to watch; nil if the system has no room for that.
  ///
  /// Until ``finish()`` has returned, nobody else may use the conversation of the prompt.
  ///
  /// - Parameter end: the end of the inquiry.
  init?(_ prompt: OpenQuestion, _ end: Withdrawal) {
    guard let withdrawal = try? Withdrawal(), let over = try? Withdrawal() else { return nil }
    (self.withdrawal, self.over) = (withdrawal, over)
    thread = WorkThread { Self.watch(prompt, end, over, withdrawal) }
    guard thread != nil else { return nil }
  }

  /// Ends the watch.
  func finish() {
    over.raise()
    thread.take()?.join()
  }

  private static func watch(
    _ prompt: OpenQuestion, _ end: Withdrawal, _ over: Withdrawal, _ withdrawal: Withdrawal
  ) {
    while true {
      // A reply may have come together with the prompt.
      prompt.look()
      if prompt.isWithdrawn || prompt.isOver { return withdrawal.raise() }
      var polled = [end.descriptor, over.descriptor, prompt.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = unsafe poll(&polled, 3, -1)
      if polled[0].revents != 0 { return withdrawal.raise(atEnd: end.isOfEnd) }
      if polled[1].revents != 0 { return }
    }
  }
}
