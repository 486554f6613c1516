import Dispatch
import NIOCore
import NIOPosix
import Testing

@testable import VaultDaemon

@Suite("The worker") struct WorkersTests {
  @Test("who waits for it to be idle goes on when all that was begun is done, or at once") func idle() throws {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let lines = LoopLines()
    let gate = DispatchSemaphore(value: 0)
    loop.execute {
      let workers = Workers()
      workers.whenIdle(on: loop) { lines.add("idle") }
      lines.add("begun")
      for _ in 0..<2 { workers.run(on: loop, { gate.wait() }, then: { lines.add("done") }) }
      workers.whenIdle(on: loop) { lines.add("idle again") }
      lines.add("waiting")
      gate.signal()
      gate.signal()
    }
    #expect((0..<6).map { _ in lines.next() } == ["idle", "begun", "waiting", "done", "done", "idle again"])
  }
}
