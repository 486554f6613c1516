internal import VaultCore
internal import VaultKeystore

/// Presence keys as files beside the store: `presence-<16 hex digits>.key`, mode 0600. It blocks.
struct FileKeystore: Sendable {
  /// The directory of the store.
  let directory: String

  /// The digits of a new file's name as 8 bytes.
  static func newLocator() -> [UInt8] { RandomBytes.array(count: 8) }

  func store(_ key: borrowing SecureBytes, _ locator: [UInt8]) throws(KeystoreError) {
    let file = try file(locator)
    do throws(SystemError) {
      try key.withBytes { bytes throws(SystemError) in try file.write(bytes) }
    } catch {
      throw KeystoreError(.unavailable, "\(error)")
    }
  }

  func fetch(_ locator: [UInt8]) throws(KeystoreError) -> SecureBytes {
    try file(locator).read(KeystoreRequest.keyCount...KeystoreRequest.keyCount)
  }

  func remove(_ locator: [UInt8]) throws(KeystoreError) {
    let file = try file(locator)
    do throws(SystemError) { try file.remove() } catch { throw KeystoreError(.unavailable, "\(error)") }
  }

  private func file(_ locator: [UInt8]) throws(KeystoreError) -> KeyFile {
    guard locator.count == 8 else { throw KeystoreError(.damaged, "the slot does not say which file holds its key") }
    let digits = Array("0123456789abcdef")
    let name = String(locator.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    return KeyFile(path: "\(directory)/presence-\(name).key", name: "presence key")
  }
}
