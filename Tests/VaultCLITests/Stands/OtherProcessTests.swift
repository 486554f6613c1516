import CLinux
import Glibc
import Testing
import VaultTesting

@Suite("Another process of a test") struct OtherProcessTests {
  /// A listening socket that tells who connects.
  private final class Listener {
    let path: String
    private let listening: Int32
    private var accepted: [Int32] = []

    init(_ sandbox: Sandbox) throws {
      path = sandbox.home + "/socket"
      listening = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard unsafe vault_bind_unix(listening, path) == 0, listen(listening, 8) == 0 else {
        throw SandboxError("no socket at \(path)")
      }
    }

    deinit { for socket in accepted + [listening] { close(socket) } }

    /// The next connection and the process that made it.
    func accept() throws -> (socket: Int32, peer: vault_peer) {
      let socket = Glibc.accept(listening, nil, nil)
      accepted.append(socket)
      var peer = vault_peer()
      guard unsafe vault_peer_credentials(socket, &peer) == 0 else { throw SandboxError("accept: \(errno)") }
      return (socket, peer)
    }
  }

  @Test("connects in its own name, and so does what it forks, in the same session") func names() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let listener = try Listener(sandbox)
    let process = try OtherProcess(in: sandbox)
    let client = try process.connect(to: listener.path)
    let peer = try listener.accept().peer
    #expect(peer.pid == process.pid && peer.uid == geteuid() && getsid(peer.pid) == peer.pid)
    let fork = try process.fork()
    let other = try fork.connect(to: listener.path)
    let next = try listener.accept().peer
    #expect(next.pid == fork.pid && next.pid != process.pid && getsid(next.pid) == process.pid)
    #expect(throws: SandboxError.self) { _ = try process.connect(to: listener.path + "-none") }
    withExtendedLifetime((client, other)) {}
  }

  @Test("is another user, in that user's group or in one that the test names", .enabled(if: Root.isAtHand))
  func users() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let listener = try Listener(sandbox)
    for path in [sandbox.root, sandbox.home] { unsafe chmod(path, 0o755) }
    unsafe chmod(listener.path, 0o666)
    for (gid, group) in [(nil, OtherProcess.nobody), (getgid(), getgid())] as [(UInt32?, UInt32)] {
      let client = try OtherProcess(in: sandbox, uid: OtherProcess.nobody, gid: gid).connect(to: listener.path)
      let peer = try listener.accept().peer
      #expect(peer.uid == OtherProcess.nobody && peer.gid == group)
      withExtendedLifetime(client) {}
    }
  }

  @Test("a connection ends when the test closes it or, if it is kept, when the process ends") func ends() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let listener = try Listener(sandbox)
    let process = try OtherProcess(in: sandbox)
    var byte: UInt8 = 0
    for isKept in [false, true] {
      try process.connect(to: listener.path, isKept: isKept).send([1])
      let socket = try listener.accept().socket
      #expect(unsafe recv(socket, &byte, 1, 0) == 1)
      if isKept {
        #expect(unsafe recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN)
        process.end()
      }
      #expect(unsafe recv(socket, &byte, 1, 0) == 0)
    }
    #expect(throws: SandboxError.self) { _ = try process.connect(to: listener.path) }
  }
}
