internal import NIOCore
internal import VaultService

extension Turns {
  /// Makes turns of `loop`. Call this on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, length: Int64 = Turns.length) {
    let own = OwnTurns()
    // Work that is queued while the loop goes through its sockets runs before the loop looks at them again.
    self.init(length: length, now: clock.monotonic, ask: { own.next() }, atEnd: { own.atEnd() })
    // A loop that ends still runs what is due, and may outlive its turns.
    own.looks = { [weak self] in self?.looks() }
    own.begin(on: loop) { [weak self] in self?.turn() }
  }
}

/// The turns of one loop.
private final class OwnTurns {
  private var turns: LoopTurns?
  private var fallback: (() -> Void)?
  private var loop: NIOIsolatedEventLoop?
  /// Runs before the loop looks at its sockets, if that was requested.
  var looks: () -> Void = {}

  func begin(on loop: any EventLoop, _ turn: @escaping () -> Void) {
    self.loop = loop.assumeIsolated()
    do throws(SystemError) { turns = try LoopTurns(on: loop, turn) } catch {
      // Without a descriptor for the turns, a timer that is not due yet also lets the loop look at its sockets.
      fallback = { loop.assumeIsolated().scheduleTask(in: .milliseconds(1), turn) }
    }
  }

  func next() {
    if let turns { turns.next() } else { fallback?() }
  }

  func atEnd() { loop?.execute(looks) }
}

extension Runner {
  /// Makes a runner for long work on `loop`, beside the requests that wait for `turns`. Call this on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, _ timer: Timer, beside turns: Turns) {
    let own = OwnTurns()
    self.init(clock, timer) { own.next() }
    isAwaited = { [weak turns] in turns?.isAwaited ?? false }
    own.begin(on: loop) { [weak self] in self?.turn() }
  }
}
