internal import VaultService

/// The helper programs that are ending but are not gone yet. Until the kernel has taken their memory back, it may hold
/// a key or a password.
final class HelperEnds {
  private var ending: Set<ObjectIdentifier> = []
  /// The daemon's own children that are not reaped yet.
  private var children: [ObjectIdentifier: HelperProcess] = [:]
  private var waiting: [() -> Void] = []
  /// True while the daemon ends, when a helper that is called off gets time to end by itself; see ``endAll(_:)``.
  private(set) var isAtEnd = false

  /// The time that all helpers together get to end by themselves when the daemon ends, in nanoseconds.
  private static let grace: Int64 = 500_000_000

  /// Registers a running child, until ``isGone(_:)``.
  func isRunning(_ child: HelperProcess) { children[ObjectIdentifier(child)] = child }

  /// Ends every child and waits for it when the daemon itself ends, so that no child outlives the daemon with a key.
  ///
  /// The daemon hangs up on its children, and a child that waits for the daemon then ends. All children together have
  /// half a second to finish their work: a `vault-tpm2` that is killed leaves its objects loaded in a TPM without a
  /// resource manager, which then has no room for the next helper. The remaining children are killed.
  /// - Parameter callOff: calls off what the daemon has asked of the helpers; this kills none of them.
  func endAll(_ callOff: () -> Void = {}) {
    isAtEnd = true
    callOff()
    for child in children.values { child.hangUp() }
    let end = Clock.system.monotonic() + Self.grace
    for child in children.values { child.awaitEnd(milliseconds: (end - Clock.system.monotonic()) / 1_000_000) }
    isAtEnd = false
    for child in children.values { child.kill() }
    // The wait is limited, because a killed child may be stuck in a device.
    for child in children.values { child.awaitEnd(milliseconds: 1000) }
  }

  /// Makes ``whenAllGone(_:)`` wait for `helper`, until ``isGone(_:)``. Does nothing if `helper` is registered already.
  func isEnding(_ helper: AnyObject) { ending.insert(ObjectIdentifier(helper)) }

  /// Stops waiting for `helper`, which need not be registered.
  func isGone(_ helper: AnyObject) {
    children[ObjectIdentifier(helper)] = nil
    ending.remove(ObjectIdentifier(helper))
    tellWaiting()
  }

  /// Runs `then` when every ending helper is gone: at once, if there is none.
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
