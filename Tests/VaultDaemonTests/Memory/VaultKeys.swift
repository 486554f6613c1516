import Foundation
import Glibc
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// The keys that a sandbox's daemon holds, derived from a copy of its store as the daemon derives them.
struct VaultKeys {
  var vault, whenUnlockedClass, whenUnlockedValues, whenUnlockedMetadata: [UInt8]
  var afterFirstUnlockClass, afterFirstUnlockValues, afterFirstUnlockMetadata: [UInt8]

  init(of sandbox: Sandbox, password: String) throws {
    let copy = sandbox.root + "/copy"
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    try? FileManager.default.removeItem(atPath: copy + "/vault.lock")
    // A store opens only for its owner, so take the copy over.
    for name in try [""] + FileManager.default.contentsOfDirectory(atPath: copy) {
      unsafe chown(copy + "/" + name, geteuid(), getegid())
    }
    let keychain = try Keychain(opening: copy)
    let slot = try #require(keychain.slots.first { $0.kind == .password })
    let secret = unsafe SecureBytes(copying: Array(password.utf8).span.bytes)
    let vaultKey = try slot.openVaultKey(secret: secret, vaultID: keychain.vaultID)
    vault = Self.bytes(vaultKey)
    func derived(_ accessible: AccessClass) throws -> (class: [UInt8], values: [UInt8], metadata: [UInt8]) {
      let key = try keychain.unwrap(accessible, under: .vault, vaultKey)
      let derived = ClassKeys(classKey: key, of: accessible)
      return (Self.bytes(key), Self.held(derived.values), Self.held(derived.metadata))
    }
    (whenUnlockedClass, whenUnlockedValues, whenUnlockedMetadata) = try derived(.whenUnlocked)
    (afterFirstUnlockClass, afterFirstUnlockValues, afterFirstUnlockMetadata) = try derived(.afterFirstUnlock)
  }

  private static func bytes(_ key: borrowing SecureBytes) -> [UInt8] {
    key.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }

  private static func held(_ key: borrowing SecureBytes?) -> [UInt8] {
    switch key {
    case .some(let key): bytes(key)
    case .none: []
    }
  }
}
