/// Shares the loop by time: who has kept it for long goes on in a later turn, when the loop has looked at its sockets,
/// its timers and the signals.
///
/// All work for clients is charged here, whoever they are. Once it is more than ``length`` since the last turn,
/// what takes long waits for the next one, in the order of its coming, and what is answered at once still is: so a
/// request that is short waits for one piece of work of others at most, however many of them there are.
package final class Turns {
  /// The time that others are kept waiting by one turn, or by the piece of work that began in it, in nanoseconds.
  package static let length: Int64 = 5_000_000
  /// The time that a search may look for items before its answer is written, which takes a while, too.
  package static let search: Int64 = 2_500_000
  /// The time in which those who watch are told what happened, beside what is done for others, in nanoseconds.
  package static let telling: Int64 = 1_000_000

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
  package init(length: Int64 = Turns.length, now: @escaping () -> Int64, ask: @escaping () -> Void) {
    self.length = length
    self.now = now
    self.ask = ask
  }

  /// True when so much was done since the last turn that what takes long has to wait for the next one.
  package var isSpent: Bool { spent >= length }

  /// Counts the nanoseconds that were spent on a client.
  package func charge(_ time: Int64) {
    spent += time
    if isSpent { askOnce() }
  }

  /// Runs `work` in a later turn.
  package func wait(_ work: @escaping () -> Void) {
    waiting.append(work)
    askOnce()
  }

  /// Runs what waits, until the time is up.
  package func turn() {
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
