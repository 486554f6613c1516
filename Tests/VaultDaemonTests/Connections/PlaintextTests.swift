import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Large replies") struct PlaintextTests {
  /// Clients that ask for values of one MiB, on a clock that the test moves.
  private final class Stand {
    var now: Int64 = 0
    let user = Line(of: 1)
    private var timers: [(at: Int64, work: () -> Void)] = []
    private var held: [String: Int] = [:]
    /// The nanoseconds that a reading client needs for its reply, by its name.
    var slow: [String: Int64] = [:]
    /// The names of the clients served, in order.
    private(set) var served: [String] = []
    private(set) var dropped: [String] = []
    private(set) lazy var turns = Turns(now: { [unowned self] in now }, ask: {})
    private(set) lazy var plaintext = Plaintext(
      in: turns, now: { [unowned self] in now },
      after: { [unowned self] in timers.append((now + $0, $1)) })

    /// Calls Get as a client of this process, which does not read the reply.
    @discardableResult
    func get(_ name: String, _ process: Int32, of user: Line? = nil) -> Int? {
      let client = Plaintext.Client(process: process, line: user ?? self.user)
      guard plaintext.mustWait(client) else {
        serve(name, client)
        return nil
      }
      return plaintext.wait(client) { [unowned self] in serve(name, client) }
    }

    private func serve(_ name: String, _ process: Plaintext.Client) {
      served.append(name)
      let began = now
      held[name] = plaintext.hold(1 << 20, for: process) { [unowned self] in
        // A client that reads does so evenly, from the beginning.
        slow[name].map { Int((now - began) * (1 << 20) / $0) } ?? 0
      } drop: { [unowned self] in
        dropped.append(name)
        // NIO releases the reply in the same way when the connection closes.
        read(name)
      }
    }

    /// Lets the client read its reply.
    func read(_ name: String) {
      if let number = held.removeValue(forKey: name) { plaintext.release(number) }
    }

    func pass(milliseconds: Int64) {
      let end = now + milliseconds * 1_000_000
      while let next = timers.indices.filter({ timers[$0].at <= end }).min(by: { timers[$0].at < timers[$1].at }) {
        let timer = timers.remove(at: next)
        now = max(now, timer.at)
        timer.work()
        turns.turn()
      }
      now = end
      turns.turn()
    }
  }

  @Test("past the cap a call waits until another's reply is read") func cap() {
    let stand = Stand()
    for process in 1...4 { stand.get("\(process)", Int32(process)) }
    #expect(stand.served == ["1", "2", "3", "4"] && stand.plaintext.inHand == 4 << 20)
    stand.get("5", 5)
    stand.turns.turn()
    #expect(stand.served.count == 4)
    stand.read("2")
    #expect(stand.served.count == 4)
    stand.turns.turn()
    #expect(stand.served == ["1", "2", "3", "4", "5"] && stand.dropped.isEmpty)
  }

  @Test("a client that does not read gives way after a second where others wait, and not where nobody does")
  func nonReaders() {
    let stand = Stand()
    for process in 1...4 { stand.get("\(process)", Int32(process)) }
    stand.pass(milliseconds: 100_000)
    #expect(stand.dropped.isEmpty)
    // One client makes room as soon as another comes, but no more clients than needed.
    stand.get("5", 5)
    stand.pass(milliseconds: 0)
    #expect(stand.dropped == ["1"] && stand.served.last == "5")
    stand.pass(milliseconds: 100_000)
    #expect(stand.dropped == ["1"])
  }

  @Test("whoever waits is let in soon, however many do not read") func eighty() {
    let stand = Stand()
    for process in 1...80 { stand.get("\(process)", Int32(process)) }
    stand.get("late", 100)
    stand.pass(milliseconds: 99)
    #expect(stand.served.count == 4)
    stand.pass(milliseconds: 1)
    #expect(stand.served.count == 8)
    stand.pass(milliseconds: 3000)
    #expect(stand.served.last == "late" && stand.served.count == 81)
  }

  @Test("a client that reads slowly is not dropped, one beside it that does not read is, and one that dawdles too")
  func slowReaders() {
    let stand = Stand()
    for process in 1...4 { stand.get("\(process)", Int32(process)) }
    stand.slow = ["1": 900_000_000, "2": 999_000_000, "4": 60_000_000_000]
    for process in 5...30 { stand.get("\(process)", Int32(process)) }
    stand.pass(milliseconds: 890)
    #expect(stand.dropped.first == "3" && stand.dropped.contains("4"))
    #expect(!stand.dropped.contains("1") && !stand.dropped.contains("2"))
  }

  @Test(
    "the time for a reply is shorter the more wait for it and the less of it was taken, and never more than a second",
    arguments: [
      (0, 1, 1000), (0, 2, 500), (0, 9, 111), (0, 11, 100), (0, 5000, 100), (50, 2, 1000), (50, 11, 600),
      (100, 11, 1000), (900, 11, 1000), (-5, 11, 100),
    ])
  func deadline(taken: Int, waiting: Int, milliseconds: Int64) {
    #expect(Plaintext.deadline(count: 100, taken: taken, waiting: waiting) / 1_000_000 == milliseconds)
  }

  @Test("one process has half of the room, and comes after those that have less") func share() {
    let stand = Stand()
    for index in 0..<80 { stand.get("own \(index)", 1) }
    stand.turns.turn()
    #expect(stand.served == ["own 0", "own 1"])
    stand.get("other", 2)
    stand.turns.turn()
    #expect(stand.served.last == "other")
    stand.get("third", 3)
    stand.turns.turn()
    #expect(stand.served.last == "third" && stand.dropped.isEmpty)
    // A process that holds nothing comes before all further calls of the first process.
    stand.get("fourth", 4)
    stand.turns.turn()
    #expect(stand.served.count == 4)
    stand.pass(milliseconds: 1000)
    #expect(stand.dropped.first == "own 0" && stand.served[4] == "fourth")
  }

  @Test("who has its share waits for its own replies, and nobody else's are dropped for it") func ownShare() {
    let stand = Stand()
    stand.get("other", 2)
    for index in 0..<3 { stand.get("own \(index)", 1) }
    stand.pass(milliseconds: 1000)
    #expect(stand.dropped == ["own 0"] && stand.served.last == "own 2")
  }

  @Test("a user who has little of the room comes before all processes of one who has much") func users() {
    let stand = Stand()
    let other = Line(of: 2)
    for process in 1...8 { stand.get("own \(process)", Int32(process)) }
    stand.get("other", 100, of: other)
    stand.pass(milliseconds: 0)
    #expect(stand.served.count == 4)
    stand.read("own 1")
    stand.turns.turn()
    #expect(stand.served.last == "other")
    // Now the other user holds one reply, and the first user three.
    stand.get("other again", 101, of: other)
    stand.read("own 2")
    stand.turns.turn()
    #expect(stand.served.last == "other again")
  }

  @Test("who has left is not served, and small replies are not counted") func left() throws {
    let stand = Stand()
    for process in 1...4 { stand.get("\(process)", Int32(process)) }
    let number = try #require(stand.get("5", 5))
    stand.get("6", 6)
    stand.plaintext.remove(number)
    stand.read("1")
    stand.turns.turn()
    #expect(stand.served.last == "6")
    #expect(
      stand.plaintext.hold(64 << 10, for: Plaintext.Client(process: 7, line: stand.user), taken: { 0 }, drop: {}) == nil
    )
  }

  @Test("a reply that has given way before may keep its room for longer") func times() {
    let stand = Stand()
    var dropped: [Int64] = []
    for times in [1, 4] as [Int64] {
      let client = Plaintext.Client(process: Int32(times), line: stand.user)
      _ = stand.plaintext.hold(2 << 20, for: client, times: times, taken: { 0 }, drop: { dropped.append(times) })
    }
    stand.get("one", 5)
    stand.pass(milliseconds: 1000)
    #expect(dropped == [1] && stand.served == ["one"])
    stand.get("two", 6)
    stand.get("three", 7)
    stand.pass(milliseconds: 900)
    #expect(dropped == [1] && stand.served == ["one", "two"])
    stand.pass(milliseconds: 2000)
    #expect(stand.served == ["one", "two", "three"])
  }
}
