import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultTesting

@testable import VaultDaemon

@Suite("Sleep waits for what has a key in hand") struct SleepWaitsTests {
  /// The lines of a service that goes to sleep while `begin` has a thread at work, which ends when the gate opens.
  private func lines(
    _ count: Int, _ begin: @escaping @Sendable (Service, LoopLines, DispatchSemaphore) throws -> Void
  ) throws -> [String?] {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let lines = LoopLines()
    let gate = DispatchSemaphore(value: 0)
    let service = try loop.submit { [store = sandbox.store, socket = sandbox.socket] in
      let service = try Service.stand(on: loop, store: store, socket: socket)
      try begin(service, lines, gate)
      service.goToSleep { lines.add("asleep") }
      return NIOLoopBound(service, eventLoop: loop)
    }.wait()
    // Behind whatever it does without waiting.
    for _ in 0..<3 { try loop.submit {}.wait() }
    lines.add("let go")
    gate.signal()
    let all = (0..<count).map { _ in lines.next() }
    try group.syncShutdownGracefully()
    return withExtendedLifetime(service) { all }
  }

  @Test("a key that is being derived from a secret") func deriving() throws {
    let lines = try lines(3) { service, lines, gate in
      let connection = Connection(peer: Peer(uid: geteuid(), pid: getpid()), service: service)
      let conversation = Conversation(connection: connection, service: service) { _, _ in nil }
      let isBegun = service.derive(for: conversation) { _ in
        gate.wait()
      } then: {
        lines.add("derived")
      }
      try #require(isBegun)
    }
    #expect(lines == ["let go", "derived", "asleep"])
  }

  @Test("a backup that is called off, until its thread has wiped the key") func backup() throws {
    let lines = try lines(4) { service, lines, gate in
      var ends: [Int32] = [0, 0]
      try #require(
        unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
      let socket = try RawSocket(ends[0], of: nil, patience: 60_000)
      let client = ends[1]
      service.transfer = Transfer(.backup, socket)
      service.transferThread.run(on: service.loop) {
        // As a client that sends nothing would have it wait.
        var isEnd = false
        do throws(RawSocket.Problem) { isEnd = try socket.isAtEnd() } catch {}
        _ = isEnd
        lines.add("called off")
        gate.wait()
        close(client)
      } then: {
        service.transfer = nil
        lines.add("ended")
      }
    }
    #expect(Set(lines.prefix(2)) == ["called off", "let go"] && lines.suffix(2) == ["ended", "asleep"], "\(lines)")
  }

  @Test("nothing, where nothing is under way") func idle() throws {
    #expect(try lines(2) { _, _, _ in } == ["asleep", "let go"])
  }
}
