internal import CLinux
internal import Glibc
internal import VaultClient

/// Ends a program that writes what happens as it happens once nobody reads that any more: the next thing, at whose writing it
/// would end, may be long in coming.
enum ReaderWatch {
  /// Watches the other end of standard output until the program ends. Only a pipe, a socket and a terminal lose it.
  static func begin() throws(Failure) {
    do throws(ClientError) {
      try NewThread.run { if isLost() { end() } }
    } catch {
      throw Failure(error)
    }
  }

  /// Waits until the other end is gone; false where nothing can be told of it.
  private static func isLost() -> Bool {
    // What it can lose is told unasked.
    var polled = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    while unsafe poll(&polled, 1, -1) < 0 {
      guard errno == EINTR || errno == EAGAIN else { return false }
    }
    return polled.revents & Int16(POLLERR | POLLHUP) != 0
  }

  /// Ends the program as its next writing would.
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
