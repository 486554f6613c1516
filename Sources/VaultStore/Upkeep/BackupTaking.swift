/// A reader of the pieces of a backup (vault-backup(5)), which takes them in as they come.
public protocol BackupTaking: ~Copyable {
  /// The number of bytes that ``take(_:)`` wants next; nil when it has all.
  var expected: Int? { get }

  /// Takes the next ``expected`` bytes.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless they are what the backup has there; ``VaultError/storage(_:)``.
  mutating func take(_ sealed: RawSpan) throws(VaultError)
}
