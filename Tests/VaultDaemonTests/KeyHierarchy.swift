import Foundation
import Glibc
import VaultModel
import VaultTesting

@testable import VaultCore
@testable import VaultStore

/// Every key of a vault by name, computed from a copy of its files and its secrets, as somebody does who has both.
///
/// The keys of a rekey that is under way are named `next …`.
struct KeyHierarchy {
  /// What opens the slots that are to be computed, by their kind or number.
  struct Secrets {
    var password: String?
    var recovery: String?
    var login: String?
    /// Presence keys that a keystore holds, by slot.
    var presence: [UInt32: [UInt8]] = [:]
  }

  private(set) var keys: [String: [UInt8]] = [:]

  /// Copies the store of `sandbox` and computes its keys.
  init(of sandbox: Sandbox, _ secrets: Secrets, _ comment: String = "") throws {
    let copy = sandbox.root + "/copy-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    // Another user's store opens for that user alone.
    for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: copy) {
      if name.hasSuffix("vault.lock") { unsafe unlink(copy + "/" + name) }
      unsafe lchown(copy + "/" + name, geteuid(), getegid())
    }
    try add(Keychain(opening: copy), copy, secrets, "", nil)
  }

  /// Also those keys of another one that this one has not, under names that begin with `prefix`.
  mutating func add(_ other: KeyHierarchy, _ prefix: String) {
    let known = Set(keys.values)
    for (name, key) in other.keys where !known.contains(key) { keys[prefix + name] = key }
  }

  /// The key of a backup's stream, which its header and the key for backups give.
  mutating func add(backup: [UInt8], header count: Int) throws {
    let header = try BackupHeader(decoding: unsafe backup.span.bytes.extracting(first: count))
    let context = AssociatedData.encode(purpose: "backup", header.vaultID, [header.salt])
    let key = Self.secret(keys["after-first-unlock backup"] ?? [])
    keys["stream of the backup"] = KeyedHash.hash(unsafe context.span.bytes, key: key, count: 32)
  }

  private mutating func add(
    _ keychain: Keychain, _ path: String, _ secrets: Secrets, _ prefix: String, _ known: [UInt8]?
  ) throws {
    var vaultKey = known
    for slot in keychain.slots {
      guard let secret = Self.secret(of: slot, secrets) else { continue }
      let root = try slot.deriveRoot(Self.secret(secret))
      // The check value, number 2, lies in the store.
      keys["\(prefix)root of slot \(slot.id)"] = Self.bytes(root)
      keys["\(prefix)key of slot \(slot.id)"] = Self.bytes(KDF.subkey(1, context: "slot-key", of: root))
      if slot.kind == .pam { keys["\(prefix)presence key \(slot.id)"] = secret }
      if let key = try? slot.openVaultKey(root: root, vault: VaultID(keychain.vaultID)) { vaultKey = Self.bytes(key) }
    }
    guard let vaultKey else { throw SandboxError("no secret opens \(path)") }
    let vault = Self.secret(vaultKey)
    keys[prefix + "vault"] = vaultKey
    keys[prefix + "wrapping key of vault"] = Self.bytes(KDF.subkey(1, context: "vaultkey", of: vault))
    keys[prefix + "wrapping key of next vault"] = Self.bytes(KDF.subkey(1, context: "rekeying", of: vault))
    for slot in keychain.slots where slot.kind == .pam && slot.terms?.keystore == "memory" {
      keys["\(prefix)presence key \(slot.id)"] = Self.bytes(SlotRecord.memoryKey(id: slot.id, vaultKey: vault))
    }
    for accessible in AccessClass.allCases {
      let key = try keychain.unwrap(accessible, under: .vault, vault)
      keys["\(prefix)\(accessible.name)"] = Self.bytes(key)
      for subkey in Subkey.allCases {
        keys["\(prefix)\(accessible.name) \(subkey)"] = Self.bytes(subkey.derive(from: key))
      }
    }
    if prefix.isEmpty, let boot = FileManager.default.contents(atPath: path + "/boot.key") {
      keys["boot"] = [UInt8](boot)
      keys["wrapping key of boot"] = Self.bytes(KDF.subkey(1, context: "boot-key", of: Self.secret([UInt8](boot))))
    }
    if let next = try keychain.nextKey(vaultKey: vault) {
      let inside = path + "/rekey"
      try add(Keychain(opening: inside), inside, secrets, prefix + "next ", Self.bytes(next))
    }
  }

  private static func secret(of slot: SlotRecord, _ secrets: Secrets) -> [UInt8]? {
    switch slot.kind {
    case .password: secrets.password.map { Array($0.utf8) }
    case .recovery: secrets.recovery.map { Array($0.utf8) }
    case .login: secrets.login.map { Array($0.utf8) }
    case .pam: secrets.presence[slot.id]
    }
  }

  private static func secret(_ bytes: [UInt8]) -> SecureBytes { unsafe SecureBytes(copying: bytes.span.bytes) }

  private static func bytes(_ key: borrowing SecureBytes) -> [UInt8] {
    key.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }
}

/// The keys that vault-security(7) says are in memory, by their names in ``KeyHierarchy``.
enum Held {
  static let always = names("always")
  static let afterFirstUnlock = names("after-first-unlock") + ["after-first-unlock backup"]
  static let whenUnlockedNames = ["when-unlocked metadata", "when-unlocked tags"]

  static let cold = always
  static let asleep = always + whenUnlockedNames
  static let locked = asleep + afterFirstUnlock
  static let lockedHidingNames = always + afterFirstUnlock
  static let unlocked = locked + ["when-unlocked values", "when-unlocked integrity"]

  private static func names(_ accessible: String) -> [String] {
    ["values", "metadata", "tags", "integrity"].map { accessible + " " + $0 }
  }
}
