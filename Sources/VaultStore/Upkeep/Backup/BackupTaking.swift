/// A reader of a backup's pieces (vault-backup(5)), which takes them as they arrive.
public protocol BackupTaking: ~Copyable {
  /// The number of bytes that ``take(_:)`` expects next; nil when the backup is complete.
  var expected: Int? { get }

  /// Takes the next ``expected`` bytes.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless these bytes are what the backup has there; ``VaultError/storage(_:)``.
  mutating func take(_ sealed: RawSpan) throws(VaultError)
}
