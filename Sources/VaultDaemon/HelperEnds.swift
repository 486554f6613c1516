/// The helper programs that were ended and are not gone yet: until the kernel has taken their memory back, a key or a
/// password may be in it.
final class HelperEnds {
  private var ending: Set<ObjectIdentifier> = []
  /// The daemon's own children that are not reaped.
  private var children: [ObjectIdentifier: HelperProcess] = [:]
  private var waiting: [() -> Void] = []

  /// Takes note of a child that runs, until ``isGone(_:)``.
  func isRunning(_ child: HelperProcess) { children[ObjectIdentifier(child)] = child }

  /// Ends every child and waits for it, for the daemon's own end: none is to outlive it with a key.
  func endAll() {
    for child in children.values { child.kill() }
    for child in children.values { child.awaitEnd() }
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
