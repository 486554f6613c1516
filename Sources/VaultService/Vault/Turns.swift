/// Shares the time of the loop among the users whose processes ask for something. The waiting work of a user has its
/// turn when the users who have had less time have been served.
///
/// This is start-time fair queueing (P. Goyal, H. Vin, H. Cheng: "Start-time Fair Queuing", SIGCOMM 1996), which needs
/// no knowledge of how long a piece of work will take. Each user has lines of waiting work. Times are on a virtual
/// clock that counts only work. A piece of work begins at the time at which the line's last work ended, or at the
/// present time if that is later. It ends after the time that it took, divided by the line's weight. The line whose
/// next work begins first has the next turn. So a user who has occupied the loop for a long time waits until the others
/// have caught up, however much of the user's work waits, and a user who asks now and then is served at once. Users who
/// have one account together share the time of one; among them, whoever has had least goes first.
///
/// All work for clients is charged here. A request is answered at once if nobody who has had less time waits, and if
/// the loop has worked for less than ``limit`` since it last looked at its sockets. The limit is long while only one
/// user asks. It is short while several do, because requests that come in are not seen before the loop looks at its
/// sockets.
package final class Turns {
  /// The length of a turn, for which other users wait, in nanoseconds. A piece of work that is running at the end of
  /// the turn is completed.
  package static let length: Int64 = 5_000_000
  /// The length of a turn while several users ask, in nanoseconds. One request fills such a turn, so that a user who
  /// has had less time is seen before the next request.
  package static let shared: Int64 = 1_000
  /// The most time that the loop itself spends on one connection at once, in nanoseconds; if more has passed, the loop
  /// has slept.
  private static let longestStep: Int64 = 40_000
  /// The time for which a user counts as asking, in nanoseconds.
  package static let memory: Int64 = 100_000_000
  /// The time up to which immediate work for a client counts as an answer and not as work, in nanoseconds.
  package static let answer: Int64 = 1_000_000
  /// The time for which a search may look for items, in nanoseconds. Writing the answer takes more time after that.
  package static let search: Int64 = 2_500_000
  /// The time for telling watchers of events between the work for others, in nanoseconds.
  package static let telling: Int64 = 1_000_000

  private let length: Int64
  private let now: () -> Int64
  private let ask: () -> Void
  private let atEnd: () -> Void
  /// Runs after each piece of waiting work while several users ask, to see what their clients have sent meanwhile.
  package var between: () -> Void = {}
  /// Accepts waiting connections. Runs before and between pieces of work, at most once in ``answer``. Until a
  /// connection is accepted, its user is unknown and has no share.
  package var letIn: () -> Void = {}
  /// The daemon's own work, and work for nobody in particular.
  private let own = Line(of: nil, weight: 4)
  /// The lines in which work waits, in the order in which they began to wait.
  private var waiting: [Line] = []
  /// The waiting line whose next work begins first; nil if none waits.
  private var next: Line?
  /// The line whose turn it is.
  private var current: Line?
  /// The clock that counts work: the beginning of the work that was done last, in nanoseconds.
  private var virtual: Int64 = 0
  private var spent: Int64 = 0
  /// The time at which work was last charged, in `CLOCK_MONOTONIC` nanoseconds.
  private var counted: Int64 = 0
  private var limit: Int64
  private var lastOwner: Line.Owner?
  /// The time until which several users count as asking, in `CLOCK_MONOTONIC` nanoseconds.
  private var mixedUntil: Int64 = 0
  /// The time at which waiting connections were last accepted, in `CLOCK_MONOTONIC` nanoseconds.
  private var letInAt: Int64 = .min
  private var isAsked = false
  private var isEndAsked = false

  /// - Parameters:
  ///   - length: the length of a turn in nanoseconds.
  ///   - now: the time in `CLOCK_MONOTONIC` nanoseconds.
  ///   - ask: has ``turn()`` called once, after the loop has looked at its sockets.
  ///   - atEnd: has ``looks()`` called once, before the loop looks at its sockets.
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

  /// True when the loop has worked for so long since it looked at its sockets that long work must wait.
  package var isSpent: Bool { spent >= limit }

  /// True when the loop has worked for a full ``length``, even if turns are shorter because several users ask.
  package var isLong: Bool { spent >= length }

  /// True when work waits for its turn.
  package var isAwaited: Bool { next != nil || current.map { $0.count > 0 } ?? false }

  /// True when several users have asked for something lately.
  package var isMixed: Bool { limit < length }

  /// True when work of this line may be done at once: the loop has time left, no work of the line waits, and no user
  /// who has had less time waits.
  ///
  /// - Parameter isShort: true for an answer. A user who has had less time than all who wait gets an answer in any
  ///   case, because to wait until the loop has looked at its sockets would take longer than the answer.
  package func mayGo(_ line: Line, isShort: Bool = false) -> Bool {
    guard let next else { return !isSpent }
    guard !isSpent || isShort && line.finish < next.start else { return false }
    guard line.count == 0 else { return false }
    // Lines of one account begin at the same time, and the one that has had less goes first.
    if line.account === next.account { return line.ownFinish <= next.ownFinish }
    return max(virtual, line.finish) <= next.start
  }

  /// True when work of this line would have the next turn.
  package func isNext(_ line: Line) -> Bool {
    guard line.count == 0, line !== current else { return false }
    return (next.map { line.finish < $0.start } ?? true) && (current.map { line.finish < $0.finish } ?? true)
  }

  /// Charges the time since `began`, in `CLOCK_MONOTONIC` nanoseconds, to this line.
  package func charge(_ line: Line, since began: Int64) {
    let now = now()
    charge(line, now - began, now: now)
  }

  /// Charges the time since `began` for an answer. If the answer took long, the time is charged to the line of work, so
  /// that the user's next answer does not wait until others have had as much time for their work.
  package func charge(answer line: Line, orWork works: Line, since began: Int64) {
    let now = now()
    charge(now - began > Self.answer ? works : line, now - began, now: now)
  }

  /// Charges the time of `work` to this line, without the parts that the work has charged itself.
  package func charge<R>(_ line: Line, for work: () -> R) -> R {
    let (began, before) = (now(), spent)
    let result = work()
    let end = now()
    charge(line, max(0, end - began - (spent - before)), now: end)
    return result
  }

  /// Charges the time since the last charge to this line, because the loop itself spent it on the line while several
  /// users ask.
  package func chargeLoop(_ line: Line) {
    let now = now()
    charge(line, min(now - counted, Self.longestStep), now: now)
  }

  private func charge(_ line: Line, _ time: Int64, now: Int64) {
    counted = now
    spent += time
    // Charges for the parts of one piece of work count as one piece, which began where its first part began.
    if line !== current { virtual = max(virtual, line.finish) }
    line.charge(time, from: virtual)
    // Waiting lines of the same account begin later now.
    if let next, next.account === line.account { choose() }
    if let owner = line.owner {
      if owner != lastOwner, lastOwner != nil { mixedUntil = now + Self.memory }
      lastOwner = owner
      limit = now < mixedUntil ? min(Self.shared, length) : length
    }
    if isMixed { askForEnd() }
    if isSpent { askOnce() }
  }

  /// Runs `work` in a later turn, as work of `line`; nil for the daemon's own work.
  ///
  /// - Parameter isFirst: true for work that continues something that was begun: it comes before the rest of the line.
  package func wait(_ line: Line? = nil, first isFirst: Bool = false, _ work: @escaping () -> Void) {
    let line = line ?? own
    if isFirst { line.addFirst(work) } else { line.add(work) }
    // The line whose turn it is queues again when it is known how long its work took.
    if line.count == 1, line !== current { queue(line) }
    askOnce()
  }

  /// Runs waiting work until the time of the turn is up.
  package func turn() {
    isAsked = false
    var time = now()
    let end = time + length
    openDoor(time)
    spent = 0
    // Some time is charged to no line: the accepting of connections, and the freeing of what a piece of work has held.
    while !isSpent, time < end, let line = next {
      dequeue(line)
      guard let work = line.takeFirst() else { continue }
      virtual = max(virtual, line.start)
      current = line
      let (began, before) = (now(), spent)
      work()
      // The work itself has charged a part of the time.
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

  /// Notes that the loop looks at its sockets now, so that the time spent so far does not count against a turn.
  package func looks() {
    isEndAsked = false
    spent = 0
  }

  private func queue(_ line: Line) {
    line.begin(at: virtual)
    waiting.append(line)
    if next.map(line.precedes) ?? true { next = line }
  }

  private func dequeue(_ line: Line) {
    waiting.removeAll { $0 === line }
    choose()
  }

  private func choose() {
    next = waiting.first
    for line in waiting where next.map(line.precedes) ?? false { next = line }
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
