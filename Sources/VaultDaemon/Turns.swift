internal import NIOCore
internal import VaultAPI

/// Shares the loop by time: who has kept it for long goes on in a later turn, when the loop has looked at its sockets,
/// its timers and the signals.
///
/// All work for clients is charged here, whoever they are. Once it is more than ``length`` since the last turn,
/// what takes long waits for the next one, in the order of its coming, and what is answered at once still is: so a
/// request that is short waits for one piece of work of others at most, however many of them there are.
final class Turns {
  /// The time that others are kept waiting by one turn, or by the piece of work that began in it, in nanoseconds.
  static let length: Int64 = 5_000_000
  /// The time that a search may look for items before its answer is written, which takes a while, too.
  static let search: Int64 = 2_500_000
  /// The time in which those who watch are told what happened, beside what is done for others, in nanoseconds.
  static let telling: Int64 = 1_000_000

  private let length: Int64
  private let now: () -> Int64
  private let ask: () -> Void
  private var waiting: [() -> Void] = []
  private var spent: Int64 = 0
  private var isAsked = false

  /// - Parameters:
  ///   - length: when a turn is over, nanoseconds.
  ///   - now: `CLOCK_MONOTONIC`, nanoseconds.
  ///   - ask: has ``turn()`` called once, later.
  init(length: Int64 = Turns.length, now: @escaping () -> Int64, ask: @escaping () -> Void) {
    self.length = length
    self.now = now
    self.ask = ask
  }

  /// True when so much was done since the last turn that what takes long has to wait for the next one.
  var isSpent: Bool { spent >= length }

  /// Counts the nanoseconds that were spent on a client.
  func charge(_ time: Int64) {
    spent += time
    if isSpent { askOnce() }
  }

  /// Runs `work` in a later turn.
  func wait(_ work: @escaping () -> Void) {
    waiting.append(work)
    askOnce()
  }

  /// Runs what waits, until the time is up.
  func turn() {
    isAsked = false
    spent = 0
    let began = now()
    var done = 0
    while done < waiting.count, !isSpent {
      waiting[done]()
      done += 1
      // What the work itself has charged is in both.
      spent = max(spent, now() - began)
    }
    waiting.removeFirst(done)
    if !waiting.isEmpty || isSpent { askOnce() }
  }

  private func askOnce() {
    guard !isAsked else { return }
    isAsked = true
    ask()
  }
}

extension Turns {
  /// Turns of `loop`. Call on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, length: Int64 = Turns.length) {
    let own = OwnTurns()
    self.init(length: length, now: clock.monotonic) { own.next() }
    own.begin(on: loop) { [unowned self] in turn() }
  }
}

/// The turns of one loop.
private final class OwnTurns {
  private var turns: LoopTurns?
  private var fallback: (() -> Void)?

  func begin(on loop: any EventLoop, _ turn: @escaping () -> Void) {
    do throws(SystemError) { turns = try LoopTurns(on: loop, turn) } catch {
      // Without a descriptor for them: a timer that is not due yet lets the loop look at its sockets, too.
      fallback = { loop.assumeIsolated().scheduleTask(in: .milliseconds(1), turn) }
    }
  }

  func next() {
    if let turns { turns.next() } else { fallback?() }
  }
}

extension MethodName {
  /// True when what it does can take longer than reading one item does: it writes, or walks over many.
  var takesLong: Bool {
    switch self {
    case .find, .set, .setMany, .delete, .move, .backup, .salvage, .rekey, .markStale, .getInterfaceDescription: true
    default: false
    }
  }
}
