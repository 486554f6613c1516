import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// Each byte of the files is flipped, one at a time. No answer is wrong, and nothing is taken for an empty store.
@Suite struct FlippedByteTests {
  private static let values = ["a": "value of a", "b": "value of b"]

  /// A store of two items. With a log that holds all of it, or folded in.
  private static func files(_ fixture: Fixture, withLog: Bool) throws -> [String: Data] {
    do {
      let keychain = try fixture.unlocked()
      for (text, value) in values.sorted(by: { $0.key < $1.key }) { try keychain.put(text, value) }
      if withLog { return try fixture.files().filter { $0.key != "vault.lock" } }
    }
    return try fixture.files().filter { $0.key != "vault.lock" }
  }

  /// What the files of a damaged store answer: nil when they are refused, which is right.
  private func check(
    _ directory: String, _ vaultKey: borrowing SecureBytes, allowed: Set<String>
  ) -> String? {
    do {
      let keychain = try Keychain(opening: directory)
      try keychain.unlock(vaultKey: vaultKey)
      var missing: Set<String> = []
      for (text, value) in Self.values {
        do {
          guard try keychain.text(text) == value else { return "another value" }
        } catch VaultError.corrupt {} catch VaultError.noSuchItem { missing.insert(text) }
      }
      // A missing item is no lie as long as the check tells of it. Damage in the log's last transaction cannot be told
      // from a power cut while it was written, before it was acknowledged.
      return try missing.isSubset(of: allowed) || !keychain.verify().isOK ? nil : "\(missing) is gone, and all is well"
    } catch VaultError.corrupt {
      return nil
    } catch VaultError.newer {
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("a flipped byte never gives a wrong value, a crash or an empty store", arguments: ["vault.db", "vault.db-wal"])
  func flipped(file: String) throws {
    let fixture = try Fixture()
    let files = try Self.files(fixture, withLog: file == "vault.db-wal")
    let whole = try #require(files[file])
    let copy = try FileCopy([:])
    var wrong: [String] = []
    let last: Set<String> = file == "vault.db-wal" ? ["b"] : []
    for offset in Self.offsets(whole) {
      for (name, data) in files { try copy.put(name, data) }
      var damaged = whole
      damaged[offset] ^= UInt8(1 << (offset % 8))
      try copy.put(file, damaged)
      if let problem = check(copy.directory, fixture.vaultKey, allowed: last) {
        wrong.append("byte \(offset): \(problem)")
      }
    }
    #expect(wrong == [])
  }

  /// Every byte; of long runs of zeros, which are free space, one in 64. Debug builds, which take ten times as long for
  /// each, are content with one in eleven.
  private static func offsets(_ data: Data) -> [Int] {
    let bytes = [UInt8](data)
    var last = -64
    let used = bytes.indices.filter { index in
      if bytes[index] != 0 { last = index }
      return index - last < 8 || index % 64 == 0
    }
    #if DEBUG
      return used.filter { $0 % 11 == 0 || $0 < 100 }
    #else
      return used
    #endif
  }
}
