internal import VaultModel
internal import VaultStore

/// The taking in of what was left while the vault was locked, which an unlock begins: in parts of a few milliseconds,
/// between which requests and locks are looked at.
///
/// The unlock is answered when all of it is taken in. A lock ends it: what is left waits for the next unlock.
package final class DepositWork: SecretHolder, Runner.Work {
  /// The time that one part may take, in nanoseconds: one transaction, which ends with the deposit that it is at.
  static let part: Int64 = 4_000_000

  private let items: Items
  private let runner: Runner
  private var vault: Vault { items.vault }
  /// The deposits that are being taken in; nil when none are.
  private var waiting: WaitingDeposits?
  private var (stored, kept) = (0, 0)
  /// Those who wait for the end.
  private var atEnd: [() -> Void] = []

  init(_ items: Items, _ runner: Runner) {
    self.items = items
    self.runner = runner
    super.init(in: items.vault.holders)
  }

  /// Takes in the first part at once, so that what is usually left is taken in before anybody is answered.
  func begin() {
    guard waiting == nil else { return }
    waiting = WaitingDeposits()
    (stored, kept) = (0, 0)
    if case .again = run(until: 0) { runner.begin(self) }
    runner.pause()
  }

  /// Runs something when all is taken in: now, if nothing is under way. After a lock it does not come to that.
  func whenOver(_ body: @escaping () -> Void) { if waiting == nil { body() } else { atEnd.append(body) } }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    guard var rest = waiting, let keychain = vault.openKeychain else { return .over }
    do throws(VaultError) {
      let limit = max(end, vault.clock.monotonic() + Self.part)
      let done = try items.takeInDeposits(&rest, keychain, until: limit)
      (stored, kept) = (stored + done.stored, kept + done.kept)
      waiting = rest
      guard rest.isEmpty else { return .again }
    } catch {
      vault.audit.record(.deposit, .failed, nil, detail: "what was left could not be taken in")
      vault.log.error("what was left could not be taken in, and waits on: \(error.text)")
    }
    stop()
    let atEnd = atEnd
    self.atEnd = []
    for body in atEnd { body() }
    return .over
  }

  private func stop(isLocked: Bool = false) {
    waiting = nil
    let rest = isLocked ? "; the rest waits for the next unlock" : ""
    if stored + kept > 0 || isLocked { vault.log.info("deposits: \(stored) taken in, \(kept) kept aside\(rest)") }
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    runner.end(self)
    stop(isLocked: true)
    atEnd = []
  }

  public override func outlives(_ lock: Lock) -> Bool { lock.isEffective && waiting != nil }
}
