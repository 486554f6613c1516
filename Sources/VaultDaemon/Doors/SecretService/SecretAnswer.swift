internal import VaultService

/// An answer with secrets that is written in several turns. A lock wipes what is written of it.
final class SecretAnswer: SecretHolder {
  private(set) var writer: BusWriter?
  /// The number of paths that were looked at, those that were written, and the bytes of the secrets.
  var index = 0
  var written: Set<String> = []
  var count = 0

  init(in vault: Vault) { super.init(in: vault.holders) }

  func begin(_ writer: BusWriter) { (self.writer, index, written, count) = (writer, 0, [], 0) }

  /// Lets the message go, which was sent.
  func end() { writer = nil }

  override func letGo(for lock: Lock) { writer = nil }
  override func outlives(_ lock: Lock) -> Bool { writer != nil }
}
