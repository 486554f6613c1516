import CSodium
import Foundation
import Glibc
import VaultModel
import VaultTesting

@testable import VaultCore
@testable import VaultStore

/// Every key of a vault by name, computed from a copy of its files and its secrets, as somebody with both could compute
/// them.
///
/// The keys of a running rekey are named `next …`.
struct KeyHierarchy {
  /// The secrets that open the slots, by kind or number.
  struct Secrets {
    var password: String?
    var recovery: String?
    var login: String?
    /// The presence keys that a keystore holds, by slot.
    var presence: [UInt32: [UInt8]] = [:]
    /// Returns the key that a keystore holds for a slot of the vault with this id, if the key is not in ``presence``.
    var keystore: ((SlotRecord, _ vault: [UInt8]) throws -> [UInt8]?)?
    /// Returns the boot key, if it is not in a file beside the store.
    var boot: ((_ vault: [UInt8]) throws -> [UInt8]?)?
  }

  private(set) var keys: [String: [UInt8]] = [:]
  /// The keys that sealed the audit log so far; none of them may still be in memory.
  private(set) var audit: Set<[UInt8]> = []

  /// Copies the store of `sandbox` and computes its keys.
  init(of sandbox: Sandbox, _ secrets: Secrets, _ comment: String = "") throws {
    let copy = sandbox.root + "/copy-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    // A store opens only for its owner, so take the copy over.
    for name in try [""] + FileManager.default.subpathsOfDirectory(atPath: copy) {
      if name.hasSuffix("vault.lock") { unsafe unlink(copy + "/" + name) }
      unsafe lchown(copy + "/" + name, geteuid(), getegid())
    }
    try add(Keychain(opening: copy), copy, secrets, "", nil)
  }

  /// Adds the keys of another hierarchy that this one lacks, under names that begin with `prefix`.
  mutating func add(_ other: KeyHierarchy, _ prefix: String) {
    let known = Set(keys.values)
    for (name, key) in other.keys where !known.contains(key) { keys[prefix + name] = key }
  }

  /// Adds the key of a backup's stream, which is derived from the header and the key for backups, and the key that
  /// `crypto_secretstream_xchacha20poly1305` derives from it for the pieces.
  mutating func add(backup: [UInt8], header count: Int) throws {
    let header = try BackupHeader(decoding: unsafe backup.span.bytes.extracting(first: count))
    let context = AssociatedData.encode(purpose: "backup", header.vaultID, [header.salt])
    let key = Self.secret(keys["after-first-unlock backup"] ?? [])
    let stream = KeyedHash.hash(unsafe context.span.bytes, key: key, count: 32)
    var pieces = [UInt8](repeating: 0, count: 32)
    // The function takes 16 bytes of input and a key of 32 bytes, and returns 32 bytes; nil is the standard constant.
    _ = unsafe crypto_core_hchacha20(&pieces, header.streamHeader, stream, nil)
    keys["stream of the backup"] = stream
    keys["pieces of the backup"] = pieces
  }

  private mutating func add(
    _ keychain: Keychain, _ path: String, _ secrets: Secrets, _ prefix: String, _ known: [UInt8]?
  ) throws {
    var vaultKey = known
    for slot in keychain.slots {
      guard let secret = try Self.secret(of: slot, keychain.vaultID, secrets) else { continue }
      let root = try slot.deriveRoot(Self.secret(secret))
      // With another slot's secret (from before or after a rekey), the root opens nothing.
      guard let key = try? slot.openVaultKey(root: root, vault: VaultID(keychain.vaultID)) else { continue }
      vaultKey = Self.bytes(key)
      add(slot, root: root, prefix)
      if slot.kind == .pam { keys["\(prefix)presence key \(slot.id)"] = secret }
    }
    guard let vaultKey else { throw SandboxError("no secret opens \(path)") }
    let vault = Self.secret(vaultKey)
    keys[prefix + "vault"] = vaultKey
    keys[prefix + "wrapping key of vault"] = Self.bytes(KDF.subkey(1, context: "vaultkey", of: vault))
    keys[prefix + "wrapping key of next vault"] = Self.bytes(KDF.subkey(1, context: "rekeying", of: vault))
    for slot in keychain.slots where slot.kind == .pam && slot.terms?.keystore == "memory" {
      let key = SlotRecord.memoryKey(id: slot.id, vaultKey: vault)
      try add(slot, root: slot.deriveRoot(key), prefix)
      keys["\(prefix)presence key \(slot.id)"] = Self.bytes(key)
    }
    for accessible in AccessClass.allCases {
      let key = try keychain.unwrap(accessible, under: .vault, vault)
      keys["\(prefix)\(accessible.name)"] = Self.bytes(key)
      for subkey in Subkey.allCases {
        keys["\(prefix)\(accessible.name) \(subkey)"] = Self.bytes(subkey.derive(from: key))
      }
    }
    try addAudit(keychain, prefix)
    let file = FileManager.default.contents(atPath: path + "/boot.key").map { [UInt8]($0) }
    if prefix.isEmpty, let boot = try secrets.boot?(keychain.vaultID) ?? file {
      keys["boot"] = boot
      keys["wrapping key of boot"] = Self.bytes(KDF.subkey(1, context: "boot-key", of: Self.secret(boot)))
    }
    if let next = try keychain.nextKey(vaultKey: vault) {
      let inside = path + "/rekey"
      try add(Keychain(opening: inside), inside, secrets, prefix + "next ", Self.bytes(next))
    }
  }

  /// Adds the keys of the audit log: the seed of each chain, and all states and keys derived from it, except the last
  /// state, which the daemon holds for the next record.
  private mutating func addAudit(_ keychain: Keychain, _ prefix: String) throws {
    guard prefix.isEmpty else { return }
    let secret = Self.secret(keys["when-unlocked box"] ?? [])
    var last: (row: Int64, states: [[UInt8]]) = (0, [])
    try keychain.database.eachAuditRow(after: 0) { (row: AuditRow) throws(VaultError) in
      if row.isBeginning {
        let chain = try Keychain.chain(row)
        guard let seed = try? chain.seed(secret) else { throw .corrupt("the seed of chain \(row.row) does not open") }
        last = (row.row, [Self.bytes(seed)])
      } else if let state = last.states.last {
        audit.insert(Self.bytes(KDF.subkey(1, context: "auditkey", of: Self.secret(state))))
        last.states.append(Self.bytes(KDF.subkey(2, context: "auditkey", of: Self.secret(state))))
      }
      audit.formUnion(last.states)
      return true
    }
    if let state = last.states.last { audit.remove(state) }
  }

  /// Adds the keys derived from a slot's secret. (The check value, subkey 2, stands in the store.)
  private mutating func add(_ slot: SlotRecord, root: borrowing SecureBytes, _ prefix: String) {
    keys["\(prefix)root of slot \(slot.id)"] = Self.bytes(root)
    keys["\(prefix)key of slot \(slot.id)"] = Self.bytes(KDF.subkey(1, context: "slot-key", of: root))
  }

  private static func secret(of slot: SlotRecord, _ vault: [UInt8], _ secrets: Secrets) throws -> [UInt8]? {
    switch slot.kind {
    case .password: secrets.password.map { Array($0.utf8) }
    case .recovery: secrets.recovery.map { Array($0.utf8) }
    case .login: secrets.login.map { Array($0.utf8) }
    case .pam: try secrets.presence[slot.id] ?? secrets.keystore?(slot, vault)
    }
  }

  private static func secret(_ bytes: [UInt8]) -> SecureBytes { unsafe SecureBytes(copying: bytes.span.bytes) }

  private static func bytes(_ key: borrowing SecureBytes) -> [UInt8] {
    key.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
  }
}

/// The keys that vault-security(7) says are in memory, by their names in ``KeyHierarchy``.
enum Held {
  static let always = names("always") + ["always audit", "always deposits", "always cursors"]
  static let afterFirstUnlock =
    names("after-first-unlock") + ["backup", "deposits", "session"].map { "after-first-unlock " + $0 }
  /// This key authenticates deposits while the vault is locked; it opens nothing.
  static let deposits = ["when-unlocked deposits"]
  static let whenUnlockedNames = ["when-unlocked metadata", "when-unlocked tags"]

  static let cold = always
  static let asleep = always + whenUnlockedNames
  static let locked = asleep + afterFirstUnlock + deposits
  static let lockedHidingNames = always + afterFirstUnlock + deposits
  static let unlocked =
    locked + ["values", "integrity", "grants", "audit", "box"].map { "when-unlocked " + $0 }

  private static func names(_ accessible: String) -> [String] {
    ["values", "metadata", "tags", "grants", "integrity"].map { accessible + " " + $0 }
  }
}
