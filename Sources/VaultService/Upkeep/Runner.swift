/// Long work in short slices, between everybody's requests: one slice at a time, and the loop looks for requests before the
/// next one.
package final class Runner {
  /// The wish of a piece of work after a slice.
  package enum Next {
    case again
    /// Again after so many nanoseconds.
    case later(Int64)
    case over
  }

  /// A piece of work that goes on for long.
  package protocol Work: AnyObject {
    /// The time that it gets while there are requests.
    var share: Share { get }

    /// Goes on until `end`, `CLOCK_MONOTONIC` nanoseconds; always by one step.
    func run(until end: Int64) -> Next
  }

  /// The time that a piece of work gets while there are requests.
  package enum Share {
    /// Half of what the requests take: requests come first.
    case half
    /// As much as the requests take, so that whoever asks for a lot can at most double the time to its end.
    case equal
  }

  /// The time that the loop is kept from requests at a time when there are none, in nanoseconds.
  private static let idleSlice: Int64 = 100_000
  /// The same time while there are some, of which the next one is on its way.
  private static let busySlice: Int64 = 20_000
  /// The longest such time after requests that took long themselves: then it takes half as long as they took.
  private static let longestSlice: Int64 = 150_000
  /// The same of work that gets as much as the requests.
  private static let longestEqualSlice: Int64 = 5_000_000
  /// A turn of the loop that took less had no request, in nanoseconds.
  private static let emptyTurn: Int64 = 10_000
  /// The time after a request within which others are expected, in nanoseconds.
  private static let lull: Int64 = 2_000_000

  private let clock: Clock
  private let timer: Timer
  private let ask: () -> Void
  private var waiting: [any Work] = []
  /// Those that go on later.
  private var delayed: [ObjectIdentifier: Timer.Cancel] = [:]
  /// True when a turn was asked for.
  private var isAsked = false
  /// The time at which the last slice ended, and that at which the loop had a request last, as far as a slice has seen; both
  /// `CLOCK_MONOTONIC` nanoseconds.
  var paused: Int64 = 0
  private var lastRequest: Int64 = 0

  /// - Parameter ask: has ``turn()`` called once, when the loop has looked for requests.
  package init(_ clock: Clock, _ timer: Timer, ask: @escaping () -> Void) {
    self.clock = clock
    self.timer = timer
    self.ask = ask
  }

  /// True when a slice is due as soon as the loop has looked for requests.
  package var isBusy: Bool { isAsked }

  /// Has a piece of work go on, unless it is about to.
  func begin(_ work: any Work) {
    delayed.removeValue(forKey: ObjectIdentifier(work))?()
    if !waiting.contains(where: { $0 === work }) { waiting.append(work) }
    askOnce()
  }

  /// Has a piece of work go on no more.
  func end(_ work: any Work) {
    delayed.removeValue(forKey: ObjectIdentifier(work))?()
    waiting.removeAll { $0 === work }
  }

  /// Takes note that something else has kept the loop until now.
  func pause() { paused = clock.monotonic() }

  /// Runs a slice of what has waited longest.
  package func turn() {
    isAsked = false
    guard !waiting.isEmpty else { return }
    let work = waiting.removeFirst()
    let now = clock.monotonic()
    switch work.run(until: now + slice(now, work.share)) {
    case .again: begin(work)
    case .later(let delay):
      let cancel = timer.after(delay) { [weak self, weak work] in if let work { self?.begin(work) } }
      if !waiting.contains(where: { $0 === work }) { delayed[ObjectIdentifier(work)] = cancel }
    case .over: break
    }
    pause()
    if !waiting.isEmpty { askOnce() }
  }

  /// The time that the slice which begins now may take, in nanoseconds.
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
