internal import VaultService

/// The helper programs that were ended and are not gone yet: until the kernel has taken their memory back, a key or a
/// password may be in it.
final class HelperEnds {
  private var ending: Set<ObjectIdentifier> = []
  /// The daemon's own children that are not reaped.
  private var children: [ObjectIdentifier: HelperProcess] = [:]
  private var waiting: [() -> Void] = []
  /// True at the daemon's end, when a helper that is called off is given time; see ``endAll(_:)``.
  private(set) var isAtEnd = false

  /// The time in which a helper may end by itself at the daemon's end, in nanoseconds, for all of them together.
  private static let grace: Int64 = 500_000_000

  /// Takes note of a child that runs, until ``isGone(_:)``.
  func isRunning(_ child: HelperProcess) { children[ObjectIdentifier(child)] = child }

  /// Ends every child and waits for it, for the daemon's own end: none is to outlive it with a key.
  ///
  /// They are hung up on, which ends those that wait for the daemon, and have half a second in all to finish what they do: a
  /// `vault-tpm2` that is killed leaves what it has loaded in a TPM without a resource manager, which then has no room for
  /// the next one. Those that are left are killed.
  /// - Parameter callOff: calls off what the daemon has asked of them; none is killed for that.
  func endAll(_ callOff: () -> Void = {}) {
    isAtEnd = true
    callOff()
    for child in children.values { child.hangUp() }
    let end = Clock.system.monotonic() + Self.grace
    for child in children.values { child.awaitEnd(milliseconds: (end - Clock.system.monotonic()) / 1_000_000) }
    isAtEnd = false
    for child in children.values { child.kill() }
    // One that was killed may be stuck in a device.
    for child in children.values { child.awaitEnd(milliseconds: 1000) }
  }

  /// Has everybody wait for `helper`, until ``isGone(_:)``. Without an effect when it is waited for already.
  func isEnding(_ helper: AnyObject) { ending.insert(ObjectIdentifier(helper)) }

  /// Waits for `helper` no more; it need not have been waited for.
  func isGone(_ helper: AnyObject) {
    children[ObjectIdentifier(helper)] = nil
    ending.remove(ObjectIdentifier(helper))
    tellWaiting()
  }

  /// Runs `then` when every helper that was ended is gone: now, if there is none.
  func whenAllGone(_ then: @escaping () -> Void) {
    waiting.append(then)
    tellWaiting()
  }

  private func tellWaiting() {
    guard ending.isEmpty else { return }
    let ready = waiting
    waiting = []
    for then in ready { then() }
  }
}
