import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Turns") struct TurnsTests {
  /// A stand for turns, on a clock that the work advances.
  private final class Stand {
    var now: Int64 = 0
    var asked = 0
    private(set) var done: [String] = []
    private(set) lazy var turns = Turns(now: { [unowned self] in now }, ask: { [unowned self] in asked += 1 })

    /// Charges a line for work that was done at once.
    func charge(_ line: Line, _ nanoseconds: Int64) {
      let began = now
      now += nanoseconds
      turns.charge(line, since: began)
    }

    /// Queues work that takes `milliseconds` and is queued again until it was done `times` times.
    func work(_ name: String, _ milliseconds: Int64, times: Int = 1) {
      turns.wait { [unowned self] in
        done.append(name)
        now += milliseconds * 1_000_000
        if times > 1 { work(name, milliseconds, times: times - 1) }
      }
    }
  }

  @Test("one turn ends with the work that is under way when its time is up") func length() {
    let stand = Stand()
    for index in 0..<10 { stand.work("\(index)", 2) }
    #expect(stand.asked == 1 && stand.done.isEmpty)
    stand.turns.turn()
    #expect(stand.done == ["0", "1", "2"] && stand.now == 6_000_000)
    #expect(stand.asked == 2)
  }

  @Test("one ends by the clock, whoever the time went to") func clock() {
    let stand = Stand()
    // Letting new clients in is nobody's work; it happens before a turn and once a millisecond.
    stand.turns.letIn = { [unowned stand] in stand.now += 2_000_000 }
    for index in 0..<10 { stand.work("\(index)", 1) }
    stand.turns.turn()
    #expect(stand.done == ["0", "1"] && stand.now == 8_000_000)
    #expect(stand.asked == 2)
    stand.turns.turn()
    // New clients were let in a moment ago, so this turn has its full length.
    #expect(stand.done == ["0", "1", "2", "3", "4"])
  }

  @Test("who goes on comes after all others that wait") func order() {
    let stand = Stand()
    stand.work("long", 5, times: 3)
    stand.work("short", 1)
    for _ in 0..<4 { stand.turns.turn() }
    #expect(stand.done == ["long", "short", "long", "long"])
  }

  @Test("what was done between turns counts until the next one") func charged() {
    let stand = Stand()
    let line = Line(of: 1)
    stand.charge(line, Turns.length - 1)
    #expect(!stand.turns.isSpent && stand.asked == 0)
    stand.charge(line, 1)
    stand.charge(line, 1)
    #expect(stand.turns.isSpent && stand.asked == 1)
    stand.turns.turn()
    #expect(!stand.turns.isSpent && stand.asked == 1)
  }

  @Test("nothing waits, nothing is asked for") func rest() {
    let stand = Stand()
    stand.work("once", 1)
    stand.turns.turn()
    stand.turns.turn()
    #expect(stand.asked == 1 && stand.done == ["once"])
  }

  /// A handler that records that something came in.
  private final class Arrival: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let lines: LoopLines

    init(_ lines: LoopLines) { self.lines = lines }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { lines.add("request") }
  }

  @Test("a turn comes after all that came in with the wish for it, also where that is met first") func last() throws {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let lines = LoopLines()
    var ends: [Int32] = [0, 0]
    let made = unsafe pipe(&ends)
    try #require(made == 0)
    let (input, output) = (ends[0], ends[1])
    defer { close(output) }
    loop.execute {
      guard let turns = try? LoopTurns(on: loop, { lines.add("turn") }) else { return lines.add("no turns") }
      NIOPipeBootstrap(group: loop)
        .channelInitializer { $0.pipeline.addHandler(Arrival(lines)) }
        .takingOwnershipOfDescriptor(input: input)
        .assumeIsolated().whenComplete { _ in
          lines.add("ready")
          // Within one look at its sockets, the loop handles first what became ready first.
          turns.next()
          _ = unsafe write(output, "x", 1)
        }
    }
    #expect((0..<3).map { _ in lines.next() } == ["ready", "request", "turn"])
  }
}
