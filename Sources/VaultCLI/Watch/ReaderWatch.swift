internal import CLinux
internal import Glibc
internal import VaultClient

/// Ends a program that prints events as they happen, once nobody reads its output any more. Without this watch, the
/// program would end only when it writes the next event, which may be a long time away.
enum ReaderWatch {
  /// Watches the other end of standard output until the program ends. Only a pipe, a socket or a terminal can lose its
  /// other end.
  static func begin() throws(Failure) {
    do throws(ClientError) {
      try NewThread.run { if isLost() { end() } }
    } catch {
      throw Failure(error)
    }
  }

  /// Waits until the other end is gone; returns false if that cannot be determined.
  private static func isLost() -> Bool {
    // poll(2) reports POLLERR and POLLHUP without being asked.
    var polled = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    while unsafe poll(&polled, 1, -1) < 0 {
      guard errno == EINTR || errno == EAGAIN else { return false }
    }
    return polled.revents & Int16(POLLERR | POLLHUP) != 0
  }

  /// Ends the program as its next write would.
  private static func end() {
    var action = sigaction()
    if unsafe sigaction(SIGPIPE, nil, &action) == 0,
      unsafe SignalPipe.isIgnoring(action.__sigaction_handler.sa_handler)
    {
      Output.note(Output.failure(EPIPE).message)
      Hush.lift()
      _exit(Exit.io.rawValue)
    }
    kill(getpid(), SIGPIPE)
  }
}
