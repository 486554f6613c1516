import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Sleep waits for what has a key in hand") struct SleepWaitsTests {
  /// Returns the lines of a daemon that goes to sleep while a thread started by `begin` works until the gate opens.
  private func lines(
    _ count: Int, _ begin: @escaping @Sendable (Assembly, LoopLines, DispatchSemaphore) throws -> Void
  ) throws -> [String?] {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let lines = LoopLines()
    let gate = DispatchSemaphore(value: 0)
    let assembly = try loop.submit { [store = sandbox.store, socket = sandbox.socket] in
      let assembly = try Assembly.stand(on: loop, store: store, socket: socket)
      try begin(assembly, lines, gate)
      assembly.goToSleep { lines.add("asleep") }
      return NIOLoopBound(assembly, eventLoop: loop)
    }.wait()
    // By then the daemon has done everything that needs no waiting.
    for _ in 0..<3 { try loop.submit {}.wait() }
    lines.add("let go")
    gate.signal()
    let all = (0..<count).map { _ in lines.next() }
    try group.syncShutdownGracefully()
    return withExtendedLifetime(assembly) { all }
  }

  @Test("a key that is being derived from a secret") func deriving() throws {
    let lines = try lines(3) { assembly, lines, gate in
      let connection = VarlinkConnection(peer: Peer(uid: geteuid(), gid: getegid(), pid: getpid()), door: assembly.door)
      let conversation = assembly.rooms.waysIn.converse(VarlinkPrompter(connection, assembly.door) { _ in }, .unlock)
      let isBegun = assembly.rooms.waysIn.derive(.making, for: conversation) { _ in
        gate.wait()
      } then: {
        lines.add("derived")
      }
      try #require(isBegun)
    }
    #expect(lines == ["let go", "derived", "asleep"])
  }

  @Test("a backup that is called off, until its thread has wiped the key") func backup() throws {
    let lines = try lines(4) { assembly, lines, gate in
      let (own, client) = try SocketPair.make()
      let socket = try RawSocket(own, of: nil, patience: 60_000)
      let upkeep = assembly.rooms.upkeep
      upkeep.transfer = Transfer(.backup, upkeep.vault, stop: socket.callOff)
      assembly.transferThread.run {
        // The thread waits, as it does for a client that sends nothing.
        var isEnd = false
        do throws(RawSocket.Problem) { isEnd = try socket.isAtEnd() } catch {}
        _ = isEnd
        lines.add("called off")
        gate.wait()
        close(client)
      } then: {
        upkeep.transfer = nil
        lines.add("ended")
      }
    }
    #expect(Set(lines.prefix(2)) == ["called off", "let go"] && lines.suffix(2) == ["ended", "asleep"], "\(lines)")
  }

  @Test("nothing, where nothing is under way") func idle() throws {
    #expect(try lines(2) { _, _, _ in } == ["asleep", "let go"])
  }
}
