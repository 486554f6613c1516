internal import CLinux
internal import Glibc
public import VaultModel
internal import VaultProcess
public import VaultWire

/// A program that keeps keys for the daemon in a place whose library must not load into the daemon: it reads one request
/// from descriptor 0, answers it there, and ends.
///
/// The end of the process is what wipes: such libraries leave copies of a key in memory that they give back.
public struct KeystoreProgram: Sendable {
  let name: String
  /// Seconds after which it ends whatever it does; the daemon is less patient.
  let limit: UInt32
  /// Does what is asked. `key` is there for `store`.
  let serve: @Sendable (KeystoreRequest, borrowing SecretBuffer) throws(KeystoreError) -> KeystoreReply

  public init(
    name: String, limit: UInt32 = 30,
    serve: @escaping @Sendable (KeystoreRequest, borrowing SecretBuffer) throws(KeystoreError) -> KeystoreReply
  ) {
    self.name = name
    self.limit = limit
    self.serve = serve
  }

  /// Runs the program; the answer is its exit code (sysexits.h).
  public func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name, "usage: \(name)\n\nKeeps a key for vaultd(8), which starts it. See \(name)(8).\n")
    }
    guard arguments.isEmpty, isStartedByItsUser() else {
      StandardStream.errors.complain(
        name, "it is started by vaultd, with a socket as its standard input; see \(name)(8)")
      return 64
    }
    harden()
    alarm(limit)
    guard let reply = answer() else { return 65 }
    return send(reply.frame()) ? 0 : 74
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

  /// The reply to the one request; nil when there is none that could be read.
  private func answer() -> KeystoreReply? {
    guard let frame = receive(), let request = KeystoreRequest(frame) else { return nil }
    let key: SecretBuffer
    if request.operation == .store {
      guard let given = KeystoreRequest.key(frame) else { return nil }
      key = given
    } else {
      key = SecretBuffer()
    }
    do throws(KeystoreError) { return try serve(request, key) } catch { return .failed(error) }
  }

  private func receive() -> Frame? {
    var reader = FrameReader(limit: KeystoreRequest.frameLimit)
    while true {
      var chunk = SecretBuffer()
      let count = chunk.append(count: KeystoreRequest.frameLimit) { bytes in
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

  private func send(_ reply: borrowing SecretBuffer) -> Bool {
    // Far smaller than the socket's buffer, and the socket blocks: one call takes all of it.
    reply.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe write(STDIN_FILENO, $0.baseAddress, $0.count) == $0.count }
    }
  }
}
