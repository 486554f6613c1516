internal import ArgumentParser
internal import VaultClient

/// The options of the commands that use a key.
struct KeyOptions: ParsableArguments {
  @OptionGroup var waiting: WaitOptions

  @Flag(help: "Also use a key that has expired.")
  var expired = false

  var wait: Vault.KeyWait { waiting.keyWait(expired: expired) }

  func use<R: ~Copyable>(
    _ session: Session, for action: String, _ body: (Vault) throws -> R
  ) throws(Failure) -> R {
    try waiting.use(session, for: action, body)
  }
}

extension WaitOptions {
  /// Returns the way in which the call waits: for the given time or, without `--wait`, for a person whom an agent asks
  /// if there is no terminal.
  func keyWait(expired: Bool = false) -> Vault.KeyWait {
    Vault.KeyWait(wait: wait.map { .seconds($0) }, expired: expired, ask: wait == nil && !Keyboard.canAsk)
  }

  /// Uses a key with `body`. With `--wait`, the daemon waits; otherwise, if somebody is there to ask, that person is
  /// asked to unlock a locked vault.
  func use<R: ~Copyable>(
    _ session: Session, for action: String, _ body: (Vault) throws -> R
  ) throws(Failure) -> R {
    session.vault.reason = reason
    do throws(Failure) {
      if wait != nil { return try session.call(body) }
      return try session.unlocking(for: action, body)
    } catch { throw error.tellingHowToAsk(reason) }
  }
}
