internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The reading of the grants for an unlock, which opens nothing before that is done: in parts of a few milliseconds, between
/// which requests and locks are looked at. So it is known who may do what from the moment on in which the vault is unlocked.
///
/// A lock ends it, as it ends the conversation that it is for.
package final class GrantsAhead: SecretHolder, Runner.Work {
  /// The time that one part may take, in nanoseconds.
  static let part: Int64 = 4_000_000

  private let access: Access
  private let runner: Runner
  private let keychain: Keychain
  /// It holds keys.
  private var walk: GrantWalk?
  private var then: (() -> Void)?

  /// - Parameter vaultKey: opens what is to be read; nothing is where it does not, which the unlock itself tells.
  init(_ access: Access, _ keychain: Keychain, _ runner: Runner, _ vaultKey: borrowing SecureBytes) {
    (self.access, self.keychain, self.runner) = (access, keychain, runner)
    walk = try? GrantWalk(keychain, vaultKey: vaultKey, known: access.book.sets)
    super.init(in: access.vault.holders)
  }

  /// Reads the first part at once, so that where there are few grants nothing waits.
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

  /// Reads no further, and opens nothing.
  func callOff() {
    runner.end(self)
    (walk, then) = (nil, nil)
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) { callOff() }

  public override func outlives(_ lock: Lock) -> Bool { walk != nil }
}
