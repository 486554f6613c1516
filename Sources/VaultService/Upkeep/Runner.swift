/// Long work in short slices between requests: one slice at a time, and the loop looks for requests before the next
/// one.
package final class Runner {
  /// The next step for a piece of work after a slice.
  package enum Next {
    case again
    /// The work continues after this many nanoseconds.
    case later(Int64)
    case over
  }

  /// A piece of work that takes long.
  package protocol Work: AnyObject {
    /// The time that the work gets while there are requests.
    var share: Share { get }

    /// Continues the work until the time `end`, in `CLOCK_MONOTONIC` nanoseconds, but by at least one step.
    func run(until end: Int64) -> Next
  }

  /// The time that a piece of work gets while there are requests.
  package enum Share {
    /// Half of the time of the requests, so that requests come first.
    case half
    /// As much time as the requests, so that a caller with many requests can at most double the duration of the work.
    case equal
  }

  /// The length of a slice while there are no requests, in nanoseconds.
  private static let idleSlice: Int64 = 100_000
  /// The shortest slice while there are requests, in nanoseconds; the next request is probably on its way.
  private static let busySlice: Int64 = 20_000
  /// The longest slice of work with half a share, after requests that took long themselves, in nanoseconds.
  private static let longestSlice: Int64 = 150_000
  /// The longest slice of work with an equal share, in nanoseconds.
  private static let longestEqualSlice: Int64 = 5_000_000
  /// The duration in nanoseconds from which a slice counts as long. A single step with a large value can take that
  /// long, and requests that come meanwhile wait for the end of the slice.
  private static let longSlice: Int64 = 2_000_000
  /// The duration in nanoseconds below which a turn of the loop had no request.
  private static let emptyTurn: Int64 = 10_000
  /// The time after a request within which others are expected, in nanoseconds.
  private static let lull: Int64 = 2_000_000

  private let clock: Clock
  private let timer: Timer
  private let ask: () -> Void
  private var waiting: [any Work] = []
  /// The pieces of work that continue later.
  private var delayed: [ObjectIdentifier: Timer.Cancel] = [:]
  /// True when a turn was asked for.
  private var isAsked = false
  /// The time at which the last slice ended, and the time at which the loop had its last request, as far as the slices
  /// have noticed; both in `CLOCK_MONOTONIC` nanoseconds.
  var paused: Int64 = 0
  private var lastRequest: Int64 = 0
  /// The time that requests get after a long slice, as long as there are any, in nanoseconds; its beginning, which is
  /// the end of the slice; and the time at which ``turn()`` last looked for requests.
  private var owed: Int64 = 0
  private var owedFrom: Int64 = 0
  private var looked: Int64 = 0
  /// True while requests wait for a turn of their own.
  package var isAwaited: () -> Bool = { false }

  /// - Parameter ask: has ``turn()`` called once, after the loop has looked for requests.
  package init(_ clock: Clock, _ timer: Timer, ask: @escaping () -> Void) {
    self.clock = clock
    self.timer = timer
    self.ask = ask
  }

  /// True when a slice is due as soon as the loop has looked for requests.
  package var isBusy: Bool { isAsked }

  /// Lets a piece of work continue, unless it is about to.
  func begin(_ work: any Work) {
    delayed.removeValue(forKey: ObjectIdentifier(work))?()
    if !isWaiting(work) { waiting.append(work) }
    askOnce()
  }

  /// Lets a piece of work continue after `delay` nanoseconds, unless it is about to continue.
  func begin(_ work: any Work, after delay: Int64) {
    delayed.removeValue(forKey: ObjectIdentifier(work))?()
    guard !isWaiting(work) else { return }
    delayed[ObjectIdentifier(work)] = timer.after(delay) { [weak self, weak work] in
      if let work { self?.begin(work) }
    }
  }

  private func isWaiting(_ work: any Work) -> Bool { waiting.contains { $0 === work } }

  /// Stops a piece of work.
  func end(_ work: any Work) {
    delayed.removeValue(forKey: ObjectIdentifier(work))?()
    waiting.removeAll { $0 === work }
  }

  /// Notes that something else has kept the loop until now.
  func pause() { paused = clock.monotonic() }

  /// Runs a slice of the work that has waited longest.
  ///
  /// After a long slice, requests go first for half as long as it took. Otherwise, of many requests that have waited
  /// for the end of the slice, all but the first would wait for further slices, too.
  package func turn() {
    isAsked = false
    guard !waiting.isEmpty else { return }
    let now = clock.monotonic()
    if now - owedFrom < owed, isAwaited() || now - looked >= Self.emptyTurn {
      looked = now
      return askOnce()
    }
    let work = waiting.removeFirst()
    switch work.run(until: now + slice(now, work.share)) {
    case .again: begin(work)
    case .later(let delay): begin(work, after: delay)
    case .over: break
    }
    pause()
    (owed, owedFrom, looked) = (paused - now < Self.longSlice ? 0 : (paused - now) / 2, paused, paused)
    if !waiting.isEmpty { askOnce() }
  }

  /// The length of the slice that begins now, in nanoseconds.
  func slice(_ now: Int64, _ share: Share) -> Int64 {
    let others = now - paused
    if others >= Self.emptyTurn { lastRequest = now }
    if now - lastRequest > Self.lull { return Self.idleSlice }
    switch share {
    case .half: return min(max(others / 2, Self.busySlice), Self.longestSlice)
    case .equal: return min(max(others, Self.busySlice), Self.longestEqualSlice)
    }
  }

  private func askOnce() {
    guard !isAsked else { return }
    isAsked = true
    ask()
  }
}
