internal import ArgumentParser
internal import VaultClient

/// The options of the commands that have a key used.
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
  /// The way in which the call waits: as long as it says, or for a person whom an agent asks where none is here.
  func keyWait(expired: Bool = false) -> Vault.KeyWait {
    Vault.KeyWait(wait: wait.map { .seconds($0) }, expired: expired, ask: wait == nil && !Keyboard.canAsk)
  }

  /// Has `body` use a key: with `--wait` the daemon waits; otherwise a locked vault is a question, where somebody is there to ask.
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
