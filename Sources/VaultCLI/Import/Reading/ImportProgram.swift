internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The program `vault-import`, which reads and writes other programs' files in a sandbox. Nothing that it says is
/// trusted.
final class ImportProgram {
  static let name = "vault-import"

  private let socket: Int32
  private let pid: pid_t
  private var reader = FrameReader(limit: ImportReply.frameLimit)
  /// The text that keeps the source's only file; nil if nobody needs it.
  private let kept: SourceText?

  /// Starts the program with a socket as its standard input and nothing else: no environment and no other file.
  ///
  /// - Parameters:
  ///   - arguments: `--write` for the program that writes a file, or the limit of a key's derivation; see
  ///     ``reading(kdfMemory:)``.
  ///   - kept: a text that keeps a copy of the source's only file.
  init(_ arguments: [String], keeping kept: SourceText? = nil) throws(Failure) {
    self.kept = kept
    let path = try Helper.path(of: Self.name)
    var low: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &low) == 0 else {
      throw Failure(.system, "cannot start \(Self.name): \(Output.describe(errno))")
    }
    // The numbers must not collide with the program's own descriptors.
    let ends = low.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
    for descriptor in low { close(descriptor) }
    let started = try? StartedProgram(
      [path] + arguments, environment: [], descriptors: [.ours(ends[1]), .null, .null], hasOwnSession: false)
    close(ends[1])
    guard let started, ends[0] >= 0 else {
      close(ends[0])
      throw Failure(.software, "cannot start \(Self.name)", "run `\(path) --help` to see whether it starts")
    }
    (socket, pid) = (ends[0], started.pid)
  }

  /// The arguments of the program that reads files.
  ///
  /// - Parameter kdfMemory: The most bytes of memory for the derivation of a key; nil for the usual limit.
  static func reading(kdfMemory: Int?) -> [String] { kdfMemory.map { ["\(ImportCall.kdfMemoryArgument)\($0)"] } ?? [] }

  deinit {
    close(socket)
    // All of its work is done, or its result is not wanted.
    kill(pid, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
  }

  // MARK: Frames

  /// Sends a call without bytes.
  func send(_ call: ImportCall) throws(Failure) {
    if let kept, case .file(_, let count, _) = call { try kept.begin(count) }
    try send(frame: call.frame())
  }

  /// Sends a part of a file, or a secret.
  func send(_ call: ImportCall, _ bytes: borrowing SecretBuffer) throws(Failure) {
    if let kept, case .part = call { kept.add(bytes) }
    try send(frame: bytes.withBytes { call.frame(value: $0) })
  }

  func send(frame: consuming SecretBuffer) throws(Failure) {
    try frame.withBytes { bytes throws(Failure) in
      var rest = bytes
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes {
          unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw reasonOfEnd() }
        rest = rest.extracting(droppingFirst: count)
      }
    }
  }

  /// The failure after which the program reads no more: its own reason, if it gave one.
  private func reasonOfEnd() -> Failure {
    do throws(Failure) {
      if case .failed(let failure) = try receive() { return Self.failure(failure) }
    } catch { return error }
    return Self.wrong
  }

  func receive() throws(Failure) -> ImportReply {
    let frame = try receiveFrame()
    guard let reply = ImportReply(frame) else { throw Self.wrong }
    reader.takeBack(frame)
    return reply
  }

  func receiveFrame() throws(Failure) -> Frame {
    while true {
      let frame: Frame?
      do throws(FrameError) { frame = try reader.next() } catch { throw Self.wrong }
      if let frame { return frame }
      var chunk = SecretBuffer()
      let count = FileInput.read(socket, into: &chunk, atMost: 64 << 10)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.ended }
      do throws(FrameError) { try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes) } } catch {
        throw Self.wrong
      }
    }
  }

  // MARK: Failures

  static let wrong = Failure(
    .software, "\(name) gave an answer that makes no sense", "install it from the package that this vault comes from")

  private static let ended = Failure(
    .invalid, "\(name) ended before its work was done, as it does for a file that attacks it or needs too much",
    "look at where the file comes from")

  /// The failure that the program reports.
  ///
  /// - Parameter advice: what to do about a format that is not recognized.
  static func failure(_ failure: ImportFailure, unknown advice: String = "--from names a format") -> Failure {
    let reason = Printable.text(failure.reason)
    return switch failure.code {
    case .unknown: Failure(.invalid, reason, advice)
    case .damaged, .unsupported, .tooLarge: Failure(.invalid, reason)
    case .wrongSecret: Failure(.denied, reason)
    case .noSecret: Failure(.retry, reason, "give --password-stdin or --key-file")
    case .failed: Failure(.software, reason)
    }
  }
}
