import Testing

@testable import VaultService

@Suite("Long work") struct RunnerTests {
  @Test("a slice is short while there are requests, and long when there have been none for a while") func slices() {
    let hands = RoomStand.Hands()
    let runner = Runner(hands.clock, hands.timer) {}
    func slice(at now: Int64, after paused: Int64, _ share: Runner.Share = .half) -> Int64 {
      runner.paused = paused
      return runner.slice(now, share)
    }
    #expect(slice(at: 9_005_000, after: 9_000_000) == 100_000)
    // A request was served; soon afterwards there is no request.
    #expect(slice(at: 9_040_000, after: 9_010_000) == 20_000)
    #expect(slice(at: 9_065_000, after: 9_060_000) == 20_000)
    #expect(slice(at: 9_240_000, after: 9_080_000) == 80_000)
    #expect(slice(at: 11_000_000, after: 9_300_000) == 150_000)
    #expect(slice(at: 13_000_000, after: 12_995_000) == 20_000)
    #expect(slice(at: 13_005_000, after: 13_000_000) == 100_000)
    // Work that cannot be postponed gets as much time as the requests took.
    #expect(slice(at: 13_105_000, after: 13_005_000, .equal) == 100_000)
    #expect(slice(at: 17_105_000, after: 13_105_000, .equal) == 4_000_000)
    #expect(slice(at: 37_105_000, after: 17_105_000, .equal) == 5_000_000)
    #expect(slice(at: 37_120_000, after: 37_105_000, .equal) == 20_000)
  }

  /// Work of a few slices, which records each slice that it gets.
  private final class Work: Runner.Work {
    private let name: String
    private var nexts: [Runner.Next]
    private let log: RoomStand.Shared<[String]>

    init(_ name: String, _ nexts: [Runner.Next], _ log: RoomStand.Shared<[String]>) {
      (self.name, self.nexts, self.log) = (name, nexts, log)
    }

    var share: Runner.Share { .half }

    func run(until end: Int64) -> Runner.Next {
      log.value.append(name)
      return nexts.isEmpty ? .over : nexts.removeFirst()
    }
  }

  @Test("pieces of work take turns, one that waits lets the others go on, and one that is over has no more")
  func turns() {
    let hands = RoomStand.Hands()
    var asked = 0
    let runner = Runner(hands.clock, hands.timer) { asked += 1 }
    let log = RoomStand.Shared<[String]>([])
    let long = Work("long", [.again, .again, .again], log)
    let waiting = Work("waiting", [.later(1_000_000)], log)
    runner.begin(long)
    runner.begin(waiting)
    runner.begin(long)
    #expect(asked == 1)
    for _ in 0..<8 where runner.isBusy { runner.turn() }
    #expect(log.value == ["long", "waiting", "long", "long", "long"] && !runner.isBusy)
    hands.pass(1_000_000)
    while runner.isBusy { runner.turn() }
    #expect(log.value.last == "waiting")
    runner.begin(long)
    runner.end(long)
    while runner.isBusy { runner.turn() }
    #expect(log.value.count == 6)
  }

  /// Work whose slices take a given time each.
  private final class Steps: Runner.Work {
    private let hands: RoomStand.Hands
    private let duration: Int64
    private(set) var count = 0

    init(_ hands: RoomStand.Hands, of duration: Int64) { (self.hands, self.duration) = (hands, duration) }

    var share: Runner.Share { .equal }

    func run(until end: Int64) -> Runner.Next {
      count += 1
      hands.pass(duration)
      return .again
    }
  }

  @Test("after a slice that took long, requests go first for half as long, as long as there are any") func owed() {
    let hands = RoomStand.Hands()
    let runner = Runner(hands.clock, hands.timer) {}
    let work = Steps(hands, of: 8_000_000)
    runner.begin(work)
    runner.turn()
    #expect(work.count == 1)
    for _ in 0..<3 {
      hands.pass(1_000_000)
      runner.turn()
      #expect(work.count == 1 && runner.isBusy)
    }
    hands.pass(1_000_000)
    runner.turn()
    #expect(work.count == 2)
    // Nobody asks any more.
    runner.turn()
    #expect(work.count == 3)
    // Somebody waits for a turn that comes with the next look at the sockets.
    runner.isAwaited = { true }
    runner.turn()
    #expect(work.count == 3 && runner.isBusy)
    runner.isAwaited = { false }
    runner.turn()
    #expect(work.count == 4)
  }

  @Test("after a slice that took no longer than it may, the next one follows at once") func notOwed() {
    let hands = RoomStand.Hands()
    let runner = Runner(hands.clock, hands.timer) {}
    let work = Steps(hands, of: 1_900_000)
    runner.begin(work)
    for _ in 0..<3 {
      hands.pass(100_000)
      runner.turn()
    }
    #expect(work.count == 3)
  }
}
