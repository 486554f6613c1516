internal import NIOCore
internal import VaultService

extension Turns {
  /// Turns of `loop`. Call on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, length: Int64 = Turns.length) {
    let own = OwnTurns()
    // What is given to the loop while it goes through its sockets runs before it looks at them again.
    self.init(length: length, now: clock.monotonic, ask: { own.next() }, atEnd: { own.atEnd() })
    own.looks = { [unowned self] in looks() }
    own.begin(on: loop) { [unowned self] in turn() }
  }
}

/// The turns of one loop.
private final class OwnTurns {
  private var turns: LoopTurns?
  private var fallback: (() -> Void)?
  private var loop: NIOIsolatedEventLoop?
  /// Runs before the loop looks at its sockets, when that was asked for.
  var looks: () -> Void = {}

  func begin(on loop: any EventLoop, _ turn: @escaping () -> Void) {
    self.loop = loop.assumeIsolated()
    do throws(SystemError) { turns = try LoopTurns(on: loop, turn) } catch {
      // Without a descriptor for them: a timer that is not due yet lets the loop look at its sockets, too.
      fallback = { loop.assumeIsolated().scheduleTask(in: .milliseconds(1), turn) }
    }
  }

  func next() {
    if let turns { turns.next() } else { fallback?() }
  }

  func atEnd() { loop?.execute(looks) }
}

extension Runner {
  /// Long work on `loop`. Call on the loop.
  convenience init(on loop: any EventLoop, clock: Clock, _ timer: Timer) {
    let own = OwnTurns()
    self.init(clock, timer) { own.next() }
    own.begin(on: loop) { [unowned self] in turn() }
  }
}
