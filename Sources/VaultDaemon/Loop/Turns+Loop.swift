internal import NIOCore
internal import VaultService

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

extension Runner {
  /// Long work on `loop`. Call on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, _ timer: Timer) {
    let own = OwnTurns()
    self.init(clock, timer) { own.next() }
    own.begin(on: loop) { [unowned self] in turn() }
  }
}
