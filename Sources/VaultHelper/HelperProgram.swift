internal import CLinux
internal import Glibc
internal import VaultProcess
public import VaultWire

/// A program that the daemon starts to answer one question: it reads a frame from descriptor 0, answers it there with
/// another, and ends.
///
/// The end of the process is what wipes: libraries leave copies of a key in memory that they give back.
public struct HelperProgram: Sendable {
  private let name: String
  /// The purpose of the program in one sentence, for `--help`.
  private let purpose: String
  /// Seconds after which it ends whatever it does; the daemon is less patient.
  private let limit: UInt32
  /// Reads the question and answers it; nil where there is none that can be read.
  private let answer: @Sendable () -> SecretBuffer?

  public init(
    name: String, purpose: String, limit: UInt32, answer: @escaping @Sendable () -> SecretBuffer?
  ) {
    self.name = name
    self.purpose = purpose
    self.limit = limit
    self.answer = answer
  }

  /// Runs the program; the answer is its exit code (sysexits.h).
  public func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name, "usage: \(name)\n\n\(purpose) for vaultd(8), which starts it. See \(name)(8).\n")
    }
    guard arguments.isEmpty, isStartedByItsUser() else {
      StandardStream.errors.complain(
        name, "it is started by vaultd, with a socket as its standard input; see \(name)(8)")
      return 64
    }
    harden()
    alarm(limit)
    guard let reply = answer() else { return 65 }
    return send(reply) ? 0 : 74
  }

  /// True when descriptor 0 is a Unix socket whose other end belongs to the same user.
  private func isStartedByItsUser() -> Bool {
    var peer = vault_peer()
    return unsafe vault_peer_credentials(STDIN_FILENO, &peer) == 0 && peer.uid == geteuid()
  }

  private func harden() {
    umask(0o077)
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = vault_set_not_dumpable()
    // A daemon that went away shows as EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // A file that must not grow any more shows as EFBIG.
    signal(SIGXFSZ, SIG_IGN)
  }

  private func send(_ reply: borrowing SecretBuffer) -> Bool {
    // Far smaller than the socket's buffer, and the socket blocks: one call takes all of it.
    reply.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe write(STDIN_FILENO, $0.baseAddress, $0.count) == $0.count }
    }
  }

  // MARK: Memory

  /// Locks the memory of the process into RAM, as far as RLIMIT_MEMLOCK goes: all of it, or its heap and its stack.
  ///
  /// For a program with one thread, before it reads a secret: libraries make copies of their own.
  ///
  /// - Parameter room: the bytes that it takes from the heap from then on, at most.
  public static func lockMemory(room: Int) { _ = vault_lock_memory(room) }

  // MARK: The question

  /// Reads the one frame that comes.
  public static func receive(limit: Int) -> Frame? { receive(limit: limit, chunk: limit) }

  /// Reads a frame and nothing of what follows it.
  public static func receiveHeader(limit: Int) -> Frame? { receive(limit: limit, chunk: 1) }

  private static func receive(limit: Int, chunk size: Int) -> Frame? {
    var reader = FrameReader(limit: limit)
    while true {
      var chunk = SecretBuffer()
      let count = chunk.append(count: size) { bytes in
        unsafe bytes.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      do throws(FrameError) {
        try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
        if let frame = try reader.next() { return frame }
      } catch {
        return nil
      }
    }
  }

  /// Fills `bytes` with what follows; false where the daemon hangs up first.
  public static func receive(into bytes: inout MutableRawSpan) -> Bool {
    var done = 0
    while done < bytes.byteCount {
      // Lent for the call, which writes no further than their end.
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe read(STDIN_FILENO, bytes.baseAddress!.advanced(by: done), bytes.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Has the kernel end the process as soon as the daemon ends or hangs up, or sends anything more: it computes from
  /// now on, and looks at nothing meanwhile.
  public static func endWithDaemon() {
    _ = vault_end_with_parent()
    signal(SIGIO, SIG_DFL)
    _ = fcntl(STDIN_FILENO, F_SETOWN, getpid())
    _ = fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_ASYNC)
    // It may have happened before.
    var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&polled, 1, 0) != 0 { exit(74) }
  }
}
