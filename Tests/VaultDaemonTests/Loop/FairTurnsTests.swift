import Testing

@testable import VaultService

@Suite("Turns among users") struct FairTurnsTests {
  /// A stand for turns, on a clock that the work advances.
  private final class Stand {
    var now: Int64 = 0
    private(set) var done: [String] = []
    /// The nanoseconds spent on each line.
    private(set) var spent: [Line.Owner: Int64] = [:]
    private(set) lazy var turns = Turns(
      now: { [unowned self] in now }, ask: {}, atEnd: { [unowned self] in isAtEnd = true })
    var isAtEnd = false

    /// Queues work on a line that takes this long, and that is queued again until it was done `times` times.
    func work(_ line: Line, _ microseconds: Int64, times: Int = 1, _ name: String = "") {
      turns.wait(line) { [unowned self] in
        done.append(name)
        spent[line.owner ?? 0, default: 0] += microseconds * 1000
        now += microseconds * 1000
        if times > 1 { work(line, microseconds, times: times - 1, name) }
      }
    }

    /// Does work at once, if the line may go; returns false otherwise.
    func ask(_ line: Line, _ microseconds: Int64) -> Bool {
      guard turns.mayGo(line) else { return false }
      let began = now
      now += microseconds * 1000
      spent[line.owner ?? 0, default: 0] += microseconds * 1000
      turns.charge(line, since: began)
      return true
    }

    func turn(while condition: () -> Bool) { while condition() { turns.turn() } }
  }

  @Test("two who ask without pause get as much time each, whatever one thing takes and however many wait") func equal()
  {
    let stand = Stand()
    let (one, other) = (Line(of: 1), Line(of: 2))
    for _ in 0..<200 { stand.work(one, 10, times: 1000) }
    stand.work(other, 70, times: 10_000)
    stand.turn { stand.now < 100_000_000 }
    #expect(abs(stand.spent[1]! - stand.spent[2]!) <= 80_000)
  }

  @Test("a hundred of one account get as much time together as one, and take turns among themselves") func crowd() {
    let stand = Stand()
    let account = Line.Account()
    let crowd = (2..<102).map { Line(of: $0, account: account) }
    let one = Line(of: 1)
    for line in crowd { stand.work(line, 100, times: 1000) }
    stand.work(one, 10, times: 10_000)
    stand.turn { stand.now < 100_000_000 }
    let shares = crowd.compactMap { stand.spent[$0.owner ?? 0] }
    #expect(abs(stand.spent[1]! - shares.reduce(0, +)) <= 200_000)
    #expect(shares.count == 100 && shares.max()! - shares.min()! <= 100_000)
    // One that comes later is served after no more than one piece of the crowd's work.
    let late = Line(of: 200)
    let before = stand.spent
    stand.work(late, 10)
    stand.turn { late.count > 0 }
    #expect(stand.spent.count { $0.value != before[$0.key] } <= 3)
  }

  @Test("one of weight 4 gets four times as much, and one that waits for nothing gets nothing") func weights() {
    let stand = Stand()
    let (one, administrator, calm) = (Line(of: 1), Line(of: 2, weight: 4), Line(of: 3))
    stand.work(calm, 10)
    for _ in 0..<10 { stand.work(one, 10, times: 10_000) }
    stand.work(administrator, 10, times: 100_000)
    stand.turn { stand.now < 100_000_000 }
    #expect(abs(stand.spent[2]! - 4 * stand.spent[1]!) <= 100_000 && stand.spent[3] == 10_000)
  }

  @Test("one that asks now and then is next when it comes, however many of another wait") func seldom() {
    let stand = Stand()
    let (busy, seldom) = (Line(of: 1), Line(of: 2))
    for _ in 0..<200 { stand.work(busy, 10, times: 1000, "busy") }
    for _ in 0..<100 {
      for _ in 0..<3 { stand.turns.turn() }
      let count = stand.done.count
      stand.work(seldom, 10, "seldom")
      stand.turns.turn()
      #expect(stand.done[count] == "seldom")
    }
  }

  @Test("one that was silent for long has earned nothing by that") func silence() {
    let stand = Stand()
    let (busy, late) = (Line(of: 1), Line(of: 2))
    stand.work(busy, 10, times: 1_000_000)
    stand.turn { stand.now < 50_000_000 }
    stand.work(late, 10, times: 1_000_000)
    let before = stand.spent[1]!
    stand.turn { stand.now < 60_000_000 }
    #expect(abs(stand.spent[2]! - (stand.spent[1]! - before)) <= 20_000)
  }

  @Test("a piece of work that took long is paid for in later turns") func debt() {
    let stand = Stand()
    let (long, short) = (Line(of: 1), Line(of: 2))
    stand.work(long, 3000, times: 3, "long")
    stand.work(short, 10, times: 1000, "short")
    stand.turn { stand.done.count(where: { $0 == "long" }) < 2 }
    let between = stand.done.split(separator: "long")
    #expect(between.count == 1 && (299...301).contains(between[0].count))
  }

  @Test("within a line work is done in the order of its coming") func order() {
    let stand = Stand()
    let line = Line(of: 1)
    for index in 0..<500 {
      stand.work(line, 10, "\(index)")
      if index % 7 == 0 { stand.turns.turn() }
    }
    stand.turn { stand.done.count < 500 }
    #expect(stand.done == (0..<500).map(String.init) && line.count == 0)
  }

  @Test("what can be answered at once is, unless one waits who has had less") func atOnce() {
    let stand = Stand()
    let (one, other) = (Line(of: 1), Line(of: 2))
    #expect(stand.ask(one, 30) && stand.ask(one, 10))
    stand.work(one, 10)
    // Work that waits in the same line comes first, and a line that has had no time comes before that.
    #expect(!stand.turns.mayGo(one) && stand.turns.mayGo(other))
    stand.work(other, 10)
    #expect(!stand.turns.mayGo(Line(of: 1)) || !stand.turns.mayGo(other))
  }

  @Test("the loop looks at its sockets after 5 ms of one user's work, and after each request where others ask, too")
  func looks() {
    let stand = Stand()
    let (one, other) = (Line(of: 1), Line(of: 2))
    var answered = 0
    while stand.ask(one, 10) { answered += 1 }
    #expect(answered == 500 && !stand.isAtEnd)
    stand.turns.turn()
    #expect(stand.ask(other, 10) && stand.turns.isMixed && stand.isAtEnd)
    stand.turns.looks()
    answered = 0
    while stand.ask(one, 10) { answered += 1 }
    #expect(answered == 1)
    // A line that has had less time than those that wait need not wait for the look at the sockets.
    stand.work(one, 10)
    #expect(stand.turns.isSpent && !stand.turns.mayGo(other) && stand.turns.mayGo(other, isShort: true))
    #expect(!stand.turns.mayGo(one, isShort: true))
    stand.turns.turn()
    stand.turns.looks()
    #expect(stand.ask(one, 10))
    // The other user has been silent for so long that nobody is held up for them.
    stand.now += Turns.memory
    stand.turns.looks()
    _ = stand.ask(one, 10)
    #expect(!stand.turns.isMixed)
  }

  @Test("who has had less has the next turn, also where the other's work is counted in parts") func next() {
    let stand = Stand()
    let (one, other) = (Line(of: 1), Line(of: 2))
    func count(_ line: Line, _ microseconds: Int64) {
      let began = stand.now
      stand.now += microseconds * 1000
      stand.turns.charge(line, since: began)
    }
    count(one, 10)
    count(other, 10)
    stand.turns.looks()
    var looks = 0
    stand.turns.between = { looks += 1 }
    for _ in 0..<2 { stand.turns.wait(one) { for _ in 0..<5 { count(one, 20) } } }
    stand.turns.turn()
    #expect(one.count == 1 && looks == 1 && !stand.turns.isNext(one))
    var answered = 0
    while stand.turns.isNext(other) {
      count(other, 10)
      answered += 1
    }
    #expect(answered == 10)
  }

  @Test("what the loop itself does for a user counts, but not while it sleeps") func loop() {
    let stand = Stand()
    let (one, other) = (Line(of: 1), Line(of: 2))
    #expect(stand.ask(one, 10))
    stand.work(one, 10)
    stand.turns.turn()
    stand.work(one, 10)
    #expect(stand.ask(other, 10))
    // The other line has had more time than the waiting one, until enough is done for the waiting user's connections.
    for _ in 0..<3 {
      stand.now += 20_000
      stand.turns.chargeLoop(other)
    }
    #expect(!stand.turns.isNext(other))
    for _ in 0..<3 {
      stand.now += 30_000
      stand.turns.chargeLoop(one)
    }
    #expect(stand.turns.isNext(other))
    stand.now += 1_000_000_000
    stand.turns.chargeLoop(other)
    stand.now += 30_000
    stand.turns.chargeLoop(one)
    #expect(stand.turns.isNext(other))
  }

  @Test("an answer that took long counts as work, so that the user's next one need not wait") func longAnswer() {
    let stand = Stand()
    let (answers, works) = (Line(of: 1), Line(of: 1))
    for microseconds: Int64 in [30, 3000] {
      let began = stand.now
      stand.now += microseconds * 1000
      stand.turns.charge(answer: answers, orWork: works, since: began)
    }
    stand.work(works, 10)
    #expect(stand.turns.isAwaited && stand.turns.mayGo(answers, isShort: true))
    stand.turns.turn()
    #expect(!stand.turns.isAwaited)
    #expect(answers.finish == 30_000 && works.finish > 3_000_000)
  }

  @Test("a piece of work that charges a part of itself to another line is charged for the rest") func rest() {
    let stand = Stand()
    let (answers, works) = (Line(of: 1), Line(of: 1))
    let result = stand.turns.charge(works) {
      stand.now += 20_000
      #expect(stand.ask(answers, 30))
      return stand.now
    }
    #expect(result == 50_000 && answers.finish == 30_000 && works.finish == 20_000)
  }

  @Test("a user's own work of two kinds makes nobody look sooner") func kinds() {
    let stand = Stand()
    let (answers, works) = (Line(of: 1), Line(of: 1))
    #expect(stand.ask(answers, 10) && stand.ask(works, 10) && stand.ask(answers, 10))
    #expect(!stand.turns.isMixed)
  }
}
