/// Shares the loop by time among the users whose processes ask for something: whose work waits has its turn when those
/// who have had less are done.
///
/// This is start-time fair queueing (P. Goyal, H. Vin, H. Cheng: "Start-time Fair Queuing", SIGCOMM 1996), for which
/// nobody has to know beforehand how long a work takes. Each user has lines of waiting work. Work begins, on a clock that
/// counts nothing but work, where the line's last one ended, or now where that is past, and ends as much later as it took,
/// divided by the line's weight. The line whose next work begins first has the next turn. So one that has kept the loop
/// for long waits for the others to catch up, however many of its works wait, and one that asks now and then is next
/// when it comes.
///
/// All work for clients is charged here. What is answered at once is so while nobody who has had less waits, and until the
/// loop has been kept for ``limit`` since it looked at its sockets last. Where only one user asks that is long; where
/// several do it is short, because those who come are not seen before that.
package final class Turns {
  /// The time that others are kept waiting by one turn, or by the piece of work that began in it, in nanoseconds.
  package static let length: Int64 = 5_000_000
  /// The same where several users ask: one request, so that who has had less is seen before the next.
  package static let shared: Int64 = 1_000
  /// The most that the loop itself does for one connection at a time; if more has passed, it has slept.
  private static let longestStep: Int64 = 40_000
  /// The time for which a user counts among those who ask, in nanoseconds.
  package static let memory: Int64 = 100_000_000
  /// The time up to which what was done for a client at once is taken for an answer, and not for work, in nanoseconds.
  package static let answer: Int64 = 1_000_000
  /// The time that a search may look for items before its answer is written, which takes a while, too.
  package static let search: Int64 = 2_500_000
  /// The time in which those who watch are told what happened, beside what is done for others, in nanoseconds.
  package static let telling: Int64 = 1_000_000

  private let length: Int64
  private let now: () -> Int64
  private let ask: () -> Void
  private let atEnd: () -> Void
  /// Runs after each work that waited where several users ask: sees what those that are there have sent meanwhile.
  package var between: () -> Void = {}
  /// Lets in those who wait at the door: runs before and between works, once in ``answer`` at most. Until they are in,
  /// nobody knows whose they are, and they have no share.
  package var letIn: () -> Void = {}
  /// The daemon's own work, and what is done for nobody in particular.
  private let own = Line(of: nil, weight: 4)
  /// The lines in which work waits, in the order in which they began to.
  private var waiting: [Line] = []
  /// The first of them by their starts; nil when none waits.
  private var next: Line?
  /// The line whose turn it is.
  private var current: Line?
  /// The clock that counts work: where the work began that was done last, in nanoseconds.
  private var virtual: Int64 = 0
  private var spent: Int64 = 0
  /// The time at which something was counted last, `CLOCK_MONOTONIC` nanoseconds.
  private var counted: Int64 = 0
  private var limit: Int64
  private var lastOwner: Line.Owner?
  /// The time until which several users ask, `CLOCK_MONOTONIC` nanoseconds.
  private var mixedUntil: Int64 = 0
  /// The time at which those at the door were let in last, `CLOCK_MONOTONIC` nanoseconds.
  private var letInAt: Int64 = .min
  private var isAsked = false
  private var isEndAsked = false
  /// True when the turn that is asked for was put off once.
  private var isPutOff = false

  /// - Parameters:
  ///   - length: when a turn is over, nanoseconds.
  ///   - now: `CLOCK_MONOTONIC`, nanoseconds.
  ///   - ask: has ``turn()`` called once, when the loop has looked at its sockets.
  ///   - atEnd: has ``looks()`` called once, before the loop does so.
  package init(
    length: Int64 = Turns.length, now: @escaping () -> Int64, ask: @escaping () -> Void,
    atEnd: @escaping () -> Void = {}
  ) {
    self.length = length
    self.now = now
    self.ask = ask
    self.atEnd = atEnd
    limit = length
  }

  /// True when so much was done since the loop looked at its sockets that what takes long has to wait.
  package var isSpent: Bool { spent >= limit }

  /// True when a turn's whole time was spent, also where several users ask and turns are shorter.
  package var isLong: Bool { spent >= length }

  /// True when something waits for its turn.
  package var isAwaited: Bool { next != nil || current.map { $0.count > 0 } ?? false }

  /// True when several users have asked for something lately.
  package var isMixed: Bool { limit < length }

  /// True when work of this line may be done at once: nothing of it waits, nor anybody who has had less.
  ///
  /// - Parameter isShort: true for an answer, which one who has had less than all who wait gets in any case: to have it wait as well,
  ///   until the loop has looked at its sockets, would take longer than the answer.
  package func mayGo(_ line: Line, isShort: Bool = false) -> Bool {
    guard let next else { return !isSpent }
    guard !isSpent || isShort && line.finish < next.start else { return false }
    return line.count == 0 && max(virtual, line.finish) <= next.start
  }

  /// True when work of this line would have the next turn.
  package func isNext(_ line: Line) -> Bool {
    guard line.count == 0, line !== current else { return false }
    return (next.map { line.finish < $0.start } ?? true) && (current.map { line.finish < $0.finish } ?? true)
  }

  /// True when work of this line would have the next turn, and something was done for another user meanwhile.
  package func mayCutIn(_ line: Line) -> Bool { isMixed && line.owner != lastOwner && isNext(line) }

  /// Counts the time since `began`, `CLOCK_MONOTONIC` nanoseconds, as spent on work of this line.
  package func charge(_ line: Line, since began: Int64) {
    let now = now()
    charge(line, now - began, now: now)
  }

  /// The same of what was to be an answer: what took long is counted as work, so that the user's next answer does not wait until the
  /// works have had as much.
  package func charge(answer line: Line, orWork works: Line, since began: Int64) {
    let now = now()
    charge(now - began > Self.answer ? works : line, now - began, now: now)
  }

  /// Counts the time since something was counted last as spent on work of this line: what the loop itself did for it, where
  /// several users ask.
  package func chargeLoop(_ line: Line) {
    let now = now()
    charge(line, min(now - counted, Self.longestStep), now: now)
  }

  private func charge(_ line: Line, _ time: Int64, now: Int64) {
    counted = now
    spent += time
    // What is charged of a work in parts is one work: it began where its first part did.
    if line !== current { virtual = max(virtual, line.finish) }
    line.finish = max(virtual, line.finish) + time / line.weight
    if line.count > 0, line !== current {
      line.delay()
      choose()
    }
    if let owner = line.owner {
      if owner != lastOwner, lastOwner != nil { mixedUntil = now + Self.memory }
      lastOwner = owner
      limit = now < mixedUntil ? min(Self.shared, length) : length
    }
    if isMixed { askForEnd() }
    if isSpent { askOnce() }
  }

  /// Runs `work` in a later turn: one of `line`, or of the daemon's own where that is nil.
  ///
  /// - Parameter isFirst: true for what goes on with something that was begun: it comes before the rest of the line.
  package func wait(_ line: Line? = nil, first isFirst: Bool = false, _ work: @escaping () -> Void) {
    let line = line ?? own
    if isFirst { line.addFirst(work) } else { line.add(work) }
    // The one whose turn it is comes again when it is known how long that took.
    if line.count == 1, line !== current { queue(line) }
    askOnce()
  }

  /// Runs what waits, until the time is up.
  package func turn() {
    isAsked = false
    // Those who came while work was done among the sockets are seen before the next work: once, so that a turn comes
    // whatever is done there.
    if isEndAsked, spent > Self.answer, !isPutOff {
      isPutOff = true
      return askOnce()
    }
    isPutOff = false
    var time = now()
    let end = time + length
    openDoor(time)
    spent = 0
    // Time passes for nobody in particular as well: to let in who waits, and to free what a work has held.
    while !isSpent, time < end, let line = next {
      dequeue(line)
      guard let work = line.takeFirst() else { continue }
      virtual = max(virtual, line.start)
      current = line
      let (began, before) = (now(), spent)
      work()
      // The work itself has charged some of it.
      time = now()
      charge(line, max(0, time - began - (spent - before)), now: time)
      current = nil
      if line.count > 0 { queue(line) }
      openDoor(time)
      if isMixed { between() }
    }
    if next != nil || isSpent { askOnce() }
  }

  private func openDoor(_ time: Int64) {
    guard letInAt == .min || time - letInAt >= Self.answer else { return }
    letIn()
    letInAt = now()
  }

  /// The loop looks at its sockets now: what was spent kept nobody waiting who is there.
  package func looks() {
    isEndAsked = false
    spent = 0
  }

  private func queue(_ line: Line) {
    line.begin(at: virtual)
    waiting.append(line)
    if next.map({ line.start < $0.start }) ?? true { next = line }
  }

  private func dequeue(_ line: Line) {
    waiting.removeAll { $0 === line }
    choose()
  }

  private func choose() {
    next = waiting.first
    for line in waiting where next.map({ line.start < $0.start }) ?? false { next = line }
  }

  private func askOnce() {
    guard !isAsked else { return }
    isAsked = true
    ask()
  }

  private func askForEnd() {
    guard !isEndAsked else { return }
    isEndAsked = true
    atEnd()
  }
}
