internal import CLinux
internal import Glibc
package import VaultCore
package import VaultModel

/// A keystore of files beside the store, for presence keys: `presence-<16 hex digits>.key`, mode 0600. Its functions
/// block.
package struct FileKeystore: Sendable {
  /// The directory of the store.
  package let directory: String

  package init(directory: String) { self.directory = directory }

  /// The locator of a new file: 8 bytes, which become the digits of its name.
  package static func newLocator() -> [UInt8] { RandomBytes.array(count: 8) }

  package func store(_ key: borrowing SecureBytes, _ locator: [UInt8]) throws(KeystoreError) {
    let file = try file(locator)
    do throws(SystemError) {
      try key.withBytes { bytes throws(SystemError) in try file.write(bytes) }
    } catch {
      throw KeystoreError(.unavailable, "\(error)")
    }
  }

  package func fetch(_ locator: [UInt8]) throws(KeystoreError) -> SecureBytes {
    try file(locator).read(SlotRecord.presenceKeyCount...SlotRecord.presenceKeyCount)
  }

  package func remove(_ locator: [UInt8]) throws(KeystoreError) {
    let file = try file(locator)
    do throws(SystemError) { try file.remove() } catch { throw KeystoreError(.unavailable, "\(error)") }
  }

  /// The locators of the keys that are stored now, including those of unfinished writes. Only regular files of the
  /// daemon's user with exactly such a name count.
  package func stored() -> Set<[UInt8]> {
    var found: Set<[UInt8]> = []
    for name in names() {
      guard let locator = Self.locator(ofFile: name) else { continue }
      var status = stat()
      guard unsafe lstat("\(directory)/\(name)", &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() { found.insert(locator) }
    }
    return found
  }

  private static func locator(ofFile name: String) -> [UInt8]? {
    guard name.hasPrefix("presence-") else { return nil }
    let rest = name.dropFirst("presence-".count)
    let digits = rest.prefix(16)
    guard digits.utf8.count == 16, digits.allSatisfy("0123456789abcdef".contains),
      [".key", ".key.new"].contains(rest.dropFirst(16)), let number = UInt64(digits, radix: 16)
    else { return nil }
    return (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  private func names() -> [String] {
    guard let stream = unsafe opendir(directory) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      // The entry is valid until the next call, and may be shorter than its type: the whole field must not be copied.
      guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = unsafe UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
      names.append(unsafe String(cString: name))
    }
    return names
  }

  private func file(_ locator: [UInt8]) throws(KeystoreError) -> KeyFile {
    guard locator.count == 8 else { throw KeystoreError(.damaged, "the slot does not say which file holds its key") }
    let digits = Array("0123456789abcdef")
    let name = String(locator.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    return KeyFile(path: "\(directory)/presence-\(name).key", name: "presence key")
  }
}
