internal import CLinux
internal import Glibc
public import VaultBytes
internal import VaultProcess
public import VaultWire

/// A program that the daemon starts to answer one question: it reads a frame from descriptor 0, writes one frame in
/// reply to the same descriptor, and exits.
///
/// Libraries leave copies of a key in memory that they free. Only the end of the process wipes those copies.
public struct HelperProgram: Sendable {
  private let name: String
  /// The purpose of the program in one sentence, for `--help`.
  private let purpose: String
  /// Seconds after which the program ends, whatever it is doing. The daemon gives up earlier.
  private let limit: UInt32
  /// Reads the question and returns the reply; nil when no question could be read.
  private let answer: @Sendable () -> SecretBuffer?

  public init(
    name: String, purpose: String, limit: UInt32, answer: @escaping @Sendable () -> SecretBuffer?
  ) {
    self.name = name
    self.purpose = purpose
    self.limit = limit
    self.answer = answer
  }

  /// Runs the program and returns its exit code (sysexits.h).
  public func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name, "usage: \(name)\n\n\(purpose) for vaultd(8), which starts it. See \(name)(8).\n")
    }
    guard arguments.isEmpty, Self.isStartedByItsUser() else {
      StandardStream.errors.complain(
        name, "it is started by vaultd, with a socket as its standard input; see \(name)(8)")
      return 64
    }
    Self.harden()
    alarm(limit)
    guard let reply = answer() else { return 65 }
    return send(reply) ? 0 : 74
  }

  /// True when descriptor 0 is a Unix socket whose other end belongs to the same user.
  static func isStartedByItsUser() -> Bool {
    var peer = vault_peer()
    return unsafe vault_peer_credentials(STDIN_FILENO, &peer) == 0 && peer.uid == geteuid()
  }

  static func harden() {
    umask(0o077)
    try? Confinement.begin()
  }

  private func send(_ reply: borrowing SecretBuffer) -> Bool {
    // The reply is far smaller than the socket's buffer, and the socket blocks, so one call takes all of it.
    reply.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe write(STDIN_FILENO, $0.baseAddress, $0.count) == $0.count }
    }
  }

  // MARK: Memory

  /// Locks the memory of the process into RAM: all of it if RLIMIT_MEMLOCK allows it, otherwise the heap and the stack.
  ///
  /// For a program with one thread. Call it before reading a secret, because libraries make copies of their own.
  ///
  /// - Parameter room: the most bytes that the program takes from the heap after this call.
  public static func lockMemory(room: Int) { _ = vault_lock_memory(room) }

  // MARK: The question

  /// Reads the one frame of the question.
  public static func receive(limit: Int) -> Frame? { receive(limit: limit, chunk: limit) }

  /// Reads one frame, but none of the bytes that follow it.
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

  /// Fills `bytes` with the bytes that follow the frame; false when the daemon hangs up first.
  public static func receive(into bytes: inout MutableRawSpan) -> Bool {
    var done = 0
    while done < bytes.byteCount {
      // The pointer is valid during the call, and read(2) writes no further than the end of the bytes.
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe read(STDIN_FILENO, bytes.baseAddress!.advanced(by: done), bytes.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// Lets the kernel end this process as soon as the daemon ends, hangs up or sends anything more. From now on the
  /// program only computes and does not look at the socket.
  public static func endWithDaemon() {
    _ = vault_end_with_parent()
    signal(SIGIO, SIG_DFL)
    _ = fcntl(STDIN_FILENO, F_SETOWN, getpid())
    _ = fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_ASYNC)
    // The daemon may have hung up before SIGIO was set up.
    var polled = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    if unsafe poll(&polled, 1, 0) != 0 { exit(74) }
  }
}
