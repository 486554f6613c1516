internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultProcess
internal import VaultService

/// The last bytes that are sent to waiting service managers when the daemon ends. They go to all of them at once,
/// without the event loop, which has stopped.
///
/// A unit starts with the bytes that arrive until its connection ends. So no connection may end before it has more
/// bytes than a credential may have, or the time is up. A manager that reads takes these bytes at once. For a manager
/// that does not read, a separate process goes on sending, so that the daemon need not wait: see ``handOn()``.
struct LastWords {
  /// The argument with which `vaultd` runs as that separate process.
  static let argument = "--last-words"

  private var owed: [(descriptor: Int32, sent: Int)]

  /// - Parameter descriptors: sockets that do not block.
  init(to descriptors: [Int32]) { owed = descriptors.map { ($0, 0) } }

  /// True when nothing is owed to anybody.
  var isDone: Bool { owed.isEmpty }

  /// Sends for at most this many milliseconds.
  mutating func send(within milliseconds: Int64, now: () -> Int64) {
    let end = now() + milliseconds * 1_000_000
    sendWhatIsTaken()
    while !owed.isEmpty {
      let left = (end - now()) / 1_000_000
      guard left > 0 else { return }
      var polled = owed.map { pollfd(fd: $0.descriptor, events: Int16(POLLOUT), revents: 0) }
      _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: left))
      // A manager that has hung up is owed nothing.
      for index in polled.indices.reversed() where polled[index].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
        owed.remove(at: index)
      }
      sendWhatIsTaken()
    }
  }

  private mutating func sendWhatIsTaken() {
    // The bytes are valid for the call.
    unsafe Overflow.buffer.withUnsafeReadableBytes { bytes in
      for index in owed.indices.reversed() {
        var isLost = false
        while owed[index].sent < bytes.count {
          let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[owed[index].sent...])
          let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
          let count = unsafe Glibc.send(owed[index].descriptor, rest.baseAddress, rest.count, flags)
          guard count > 0 else {
            isLost = errno != EAGAIN && errno != EINTR
            break
          }
          owed[index].sent += count
        }
        if isLost || owed[index].sent == bytes.count {
          shutdown(owed[index].descriptor, Int32(SHUT_RDWR))
          owed.remove(at: index)
        }
      }
    }
  }

  // MARK: The process that goes on

  /// The number of the descriptor through which the separate process reports that signals no longer end it. The numbers
  /// after it are those of the sockets.
  private static let ready: Int32 = 3
  /// The time that the process has for that report, in milliseconds.
  private static let startTime: Int32 = 5_000

  /// Starts a process that goes on sending what is still owed after the daemon has ended; false when no process can be
  /// started.
  ///
  /// It is the same program, started anew, so that nothing of the daemon's memory is left in it.
  func handOn() -> Bool {
    let first = Int(Self.ready) + 1
    let sockets = owed.map { fcntl($0.descriptor, F_DUPFD_CLOEXEC, CInt(first + owed.count)) }
    defer { for socket in sockets where socket >= 0 { close(socket) } }
    guard sockets.allSatisfy({ $0 >= 0 }), let pipe = try? StartedProgram.pipe(for: first + owed.count) else {
      return false
    }
    defer { close(pipe.read) }
    let program = try? StartedProgram(
      ["/proc/self/exe", Self.argument, "\(sockets.count)"],
      descriptors: [.null, .null, .null, .ours(pipe.write)] + sockets.map { .ours($0) }, hasOwnSession: true)
    close(pipe.write)
    guard program != nil else { return false }
    // A service manager that sees the daemon's end sends a signal to the processes that are left, so the daemon first
    // waits until signals no longer end the separate process.
    var polled = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&polled, 1, Self.startTime) == 1 else { return false }
    var byte: UInt8 = 0
    return unsafe read(pipe.read, &byte, 1) == 1
  }

  /// Sends what a daemon that has ended still owed; returns the exit code of this process.
  static func goOn(_ arguments: [String]) -> Int32 {
    guard arguments.count == 1, let count = Int32(arguments[0]), (1...1 << 16).contains(count) else {
      return Daemon.Exit.usage
    }
    for number in [SIGTERM, SIGINT, SIGHUP] { signal(number, SIG_IGN) }
    var byte: UInt8 = 1
    guard unsafe write(ready, &byte, 1) == 1 else { return Daemon.Exit.input }
    close(ready)
    var words = LastWords(to: (ready + 1...ready + count).map { $0 })
    words.send(within: Timeouts.lastWordsBeyond, now: Clock.system.monotonic)
    return Daemon.Exit.ok
  }
}
