internal import VaultModel
internal import VaultStore

/// The taking in of the deposits that were left while the vault was locked. An unlock begins it, and it runs in parts
/// of a few milliseconds, between which requests and locks are handled.
///
/// The unlock is answered when all deposits are taken in. A lock ends the work: the rest waits for the next unlock.
/// After a fault that may pass, such as a full disk, the unlock is answered, and the rest is taken in once that is
/// possible.
package final class DepositWork: SecretHolder, Runner.Work {
  /// The time that one part may take, in nanoseconds. A part is one transaction, which ends after the deposit that is
  /// being taken in at that time.
  static let part: Int64 = 4_000_000
  /// The first and the longest pause after a fault, in nanoseconds; each pause is twice as long as the last.
  static let (firstPause, longestPause): (Int64, Int64) = (1_000_000_000, 300_000_000_000)

  private let items: Items
  private let runner: Runner
  private var vault: Vault { items.vault }
  /// The deposits that are being taken in; nil if none are.
  private var waiting: WaitingDeposits?
  private var (stored, kept) = (0, 0)
  /// The last pause in nanoseconds; nil if the last attempt had no fault.
  private var pause: Int64?
  /// The closures that run at the end.
  private var atEnd: [() -> Void] = []

  init(_ items: Items, _ runner: Runner) {
    self.items = items
    self.runner = runner
    super.init(in: items.vault.holders)
  }

  /// Takes in the first part at once, so that the usual number of deposits is taken in before anybody is answered.
  func begin() {
    guard waiting == nil else { return }
    pause = nil
    start()
    switch run(until: 0) {
    case .again: runner.begin(self)
    case .later(let delay): runner.begin(self, after: delay)
    case .over: runner.end(self)
    }
    runner.pause()
  }

  private func start() {
    waiting = WaitingDeposits()
    (stored, kept) = (0, 0)
  }

  /// Runs a closure when all deposits are taken in: now, if no work is under way. After a lock the closure does not
  /// run.
  func whenOver(_ body: @escaping () -> Void) { if waiting == nil { body() } else { atEnd.append(body) } }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    if pause != nil, waiting == nil { start() }
    guard var rest = waiting, let keychain = vault.openKeychain else { return .over }
    do throws(VaultError) {
      let limit = max(end, vault.clock.monotonic() + Self.part)
      let done = try items.takeInDeposits(&rest, keychain, until: limit)
      (stored, kept) = (stored + done.stored, kept + done.kept)
      waiting = rest
      guard rest.isEmpty else { return .again }
      pause = nil
    } catch {
      let mayPass = if case .storage = error { true } else { false }
      // A lasting fault recurs in each attempt, and is reported only at the first one.
      if pause == nil || !mayPass {
        vault.audit.record(.deposit, .failed, nil, detail: "deposits could not be taken in")
        vault.log.error("deposits could not be taken in, and keep waiting: \(error.text)")
      }
      pause = mayPass ? pause.map { min(2 * $0, Self.longestPause) } ?? Self.firstPause : nil
    }
    stop()
    let atEnd = atEnd
    self.atEnd = []
    for body in atEnd { body() }
    return pause.map { .later($0) } ?? .over
  }

  private func stop(isLocked: Bool = false) {
    waiting = nil
    let rest = isLocked ? "; the rest waits for the next unlock" : ""
    if stored + kept > 0 || isLocked { vault.log.info("deposits: \(stored) taken in, \(kept) kept aside\(rest)") }
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) {
    guard lock.isEffective else { return }
    if pause != nil {
      pause = nil
      runner.end(self)
    }
    guard waiting != nil else { return }
    runner.end(self)
    stop(isLocked: true)
    atEnd = []
  }

  public override func outlives(_ lock: Lock) -> Bool { lock.isEffective && waiting != nil }
}
