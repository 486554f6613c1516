internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The reading of the grants for an unlock, which opens nothing before all grants are read. It runs in parts of a few
/// milliseconds, between which requests and locks are handled. So all rights are known from the moment at which the
/// vault is unlocked.
///
/// A lock ends the reading, as it ends the conversation that the reading is for.
package final class GrantsAhead: SecretHolder, Runner.Work {
  /// The time that one part may take, in nanoseconds.
  static let part: Int64 = 4_000_000

  private let access: Access
  private let runner: Runner
  private let keychain: Keychain
  /// The walk over the grants, which holds keys.
  private var walk: GrantWalk?
  private var then: (() -> Void)?

  /// - Parameter vaultKey: the key that opens the grants. With a wrong key nothing is read, and the unlock itself
  ///   reports the error.
  init(_ access: Access, _ keychain: Keychain, _ runner: Runner, _ vaultKey: borrowing SecureBytes) {
    (self.access, self.keychain, self.runner) = (access, keychain, runner)
    walk = try? GrantWalk(keychain, vaultKey: vaultKey, known: access.book.sets)
    super.init(in: access.vault.holders)
  }

  /// Reads the first part at once, so that a vault with few grants makes nobody wait.
  ///
  /// - Parameter then: opens the vault.
  func begin(then: @escaping () -> Void) {
    self.then = then
    if case .again = run(until: 0) { runner.begin(self) }
    runner.pause()
  }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next {
    guard let then else { return .over }
    let clock = access.vault.clock
    let limit = max(end, clock.monotonic() + Self.part)
    let isOver = walk?.step(keychain) { clock.monotonic() >= limit } ?? true
    guard isOver else { return .again }
    access.readAhead = walk?.found ?? [:]
    defer { access.readAhead = [:] }
    callOff()
    then()
    return .over
  }

  /// Stops the reading; the vault is not opened.
  func callOff() {
    runner.end(self)
    (walk, then) = (nil, nil)
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) { callOff() }

  public override func outlives(_ lock: Lock) -> Bool { walk != nil }
}
