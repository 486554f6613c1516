/// The helper programs that were ended and are not gone yet: until the kernel has taken their memory back, a key or a
/// password may be in it.
final class HelperEnds {
  private var ending: Set<ObjectIdentifier> = []
  private var waiting: [() -> Void] = []

  /// Has everybody wait for `helper`, until ``isGone(_:)``. Without an effect when it is waited for already.
  func isEnding(_ helper: AnyObject) { ending.insert(ObjectIdentifier(helper)) }

  /// Waits for `helper` no more; it need not have been waited for.
  func isGone(_ helper: AnyObject) {
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
