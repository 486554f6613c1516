import Dispatch
import NIOCore
import NIOPosix
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The worker") struct WorkersTests {
  @Test("who waits for it to be idle goes on when all that was begun is done, or at once") func idle() throws {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let lines = LoopLines()
    let gate = DispatchSemaphore(value: 0)
    loop.execute {
      let workers = WorkerThread(telling: loop)
      workers.whenIdle { lines.add("idle") }
      lines.add("begun")
      for _ in 0..<2 { workers.run({ gate.wait() }, then: { lines.add("done") }) }
      workers.whenIdle { lines.add("idle again") }
      lines.add("waiting")
      gate.signal()
      gate.signal()
    }
    #expect((0..<6).map { _ in lines.next() } == ["idle", "begun", "waiting", "done", "done", "idle again"])
  }

  private static let pattern: UInt64 = 0xA55A_C33C_9669_0FF0

  /// Leaves some KiB of the pattern in stack frames below the caller's, and returns the address of the lowest.
  @inline(never) private static func fillStack(_ depth: Int) -> UInt {
    // An allocation this small comes from the stack.
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 128) { words in
      unsafe words.initialize(repeating: pattern)
      if depth > 0 { return fillStack(depth - 1) }
      return UInt(bitPattern: words.baseAddress)
    }
  }

  @Test(
    "a job leaves nothing on its thread's stack, which then waits for the next one",
    .disabled(if: Sanitizer.isPresent, "a sanitizer has stacks of its own"))
  func stack() throws {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let lines = LoopLines()
    loop.execute {
      let workers = WorkerThread(telling: loop)
      workers.run({ Self.fillStack(7) }) { lowest in
        // The thread lives as long as `workers`, so its stack is still mapped.
        let words = unsafe UnsafeBufferPointer(start: UnsafePointer<UInt64>(bitPattern: lowest), count: 1024)
        let left = unsafe words.count { $0 == Self.pattern }
        lines.add("\(left) words left")
        withExtendedLifetime(workers) {}
      }
    }
    #expect(lines.next() == "0 words left")
  }

  private final class Secret: Sendable {}

  @Test("a job has let go of what it was given when it is done, whoever holds the job itself") func letGo() {
    weak var held: Secret?
    let job: Job<Bool>
    do {
      let secret = Secret()
      held = secret
      job = Job { withExtendedLifetime(secret) { true } }
    }
    #expect(held != nil)
    #expect(job.run())
    #expect(held == nil)
  }
}
