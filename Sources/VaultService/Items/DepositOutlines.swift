internal import VaultStore

/// The first reading of the deposits after the store was opened. It runs in parts, so that neither a status nor a
/// deposit that comes before the first unlock waits for thousands of rows. Code that needs all deposits before the end
/// of this work reads the rest itself.
final class DepositOutlines: Runner.Work {
  private let vault: Vault
  private let runner: Runner

  init(_ vault: Vault, _ runner: Runner) { (self.vault, self.runner) = (vault, runner) }

  /// Makes the first step at once, so that a vault with few deposits knows all of them.
  func begin() { if case .again = run(until: 0) { runner.begin(self) } }

  var share: Runner.Share { .half }

  func run(until end: Int64) -> Runner.Next {
    guard let keychain = vault.openKeychain else { return .over }
    // A fault is told by the call that needs the deposits.
    let isOver = try? keychain.outlineDeposits { vault.clock.monotonic() >= end }
    return isOver == false ? .again : .over
  }
}
