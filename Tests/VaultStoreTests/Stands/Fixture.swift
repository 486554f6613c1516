import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

/// A vault with its keys, in a directory of its own that is removed when the test ends.
final class Fixture {
  let directory: String
  let vaultKey: SecureBytes
  let bootKey: SecureBytes
  let vaultID: [UInt8]
  /// The folder of this test.
  let parent: String

  /// Makes the directory, and by default the vault.
  ///
  /// - Parameter folder: the vault's place in ``parent``, with a slash at the end.
  init(create: Bool = true, key: [UInt8]? = nil, in folder: String = "") throws {
    vaultKey = key.map { secret($0) } ?? RandomBytes.secret(count: 32)
    bootKey = RandomBytes.secret(count: 32)
    vaultID = RandomBytes.array(count: 16)
    parent = try Self.temporaryDirectory()
    directory = parent + "/" + folder + "vault"
    if create { try self.create() }
  }

  /// Makes a fixture from the files that a power cut has left of another one.
  init(_ tree: DurableDisk.Tree, of other: Fixture) throws {
    vaultKey = other.vaultKey.withBytes { SecureBytes(copying: $0) }
    bootKey = other.bootKey.withBytes { SecureBytes(copying: $0) }
    vaultID = other.vaultID
    parent = try Self.temporaryDirectory()
    directory = parent + other.directory.dropFirst(other.parent.count)
    try DurableDisk.put(tree, into: parent)
  }

  /// Copies another fixture's files as they are now, even if they are open: the state that kill -9 leaves behind.
  init(copying other: Fixture) throws {
    vaultKey = other.vaultKey.withBytes { SecureBytes(copying: $0) }
    bootKey = other.bootKey.withBytes { SecureBytes(copying: $0) }
    vaultID = other.vaultID
    parent = try Self.temporaryDirectory()
    directory = parent + "/vault"
    try FileManager.default.copyItem(atPath: other.directory, toPath: directory)
  }

  deinit { try? FileManager.default.removeItem(atPath: parent) }

  static func temporaryDirectory() throws -> String {
    try ScratchFolder.make()
  }

  func create() throws {
    try Keychain.create(
      in: directory, slots: [firstSlot()], vaultID: vaultID, vaultKey: vaultKey, bootKey: bootKey, now: 1000)
  }

  /// A slot that needs no slow derivation.
  private func firstSlot() throws -> SlotRecord {
    try SlotRecord.make(
      id: 1, kind: .recovery, label: "slot 1", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: vaultKey, vaultID: vaultID)
  }

  func slot(_ id: UInt32, _ password: String) throws -> SlotRecord {
    try SlotRecord.make(
      id: id, kind: .password, label: "slot \(id)", created: 1000, secret: secret(password), kdf: .floor,
      vaultKey: vaultKey, vaultID: vaultID)
  }

  /// Opens the vault, which is then cold.
  func open() throws -> Keychain { try Keychain(opening: directory) }

  /// Opens and unlocks the vault.
  func unlocked() throws -> Keychain {
    let keychain = try open()
    try keychain.unlock(vaultKey: vaultKey)
    return keychain
  }

  /// Makes the directory without a vault.
  func makeDirectory() throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    try setMode(directory, 0o700)
  }

  func path(_ name: String) -> String { directory + "/" + name }

  /// Returns every file's bytes by name, in the directory or in a `folder` of it.
  func files(in folder: String? = nil) throws -> [String: Data] {
    var found: [String: Data] = [:]
    let directory = folder.map { path($0) } ?? directory
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      found[name] = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
    }
    return found
  }

  /// Returns the names of the files in the directory.
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
}

func secret(_ text: String) -> SecureBytes { secret([UInt8](text.utf8)) }

func secret(_ bytes: [UInt8]) -> SecureBytes {
  SecureBytes(count: bytes.count) { out in
    for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
  }
}

func setMode(_ path: String, _ mode: Int) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

func name(_ text: String) throws -> ItemName { try ItemName(text) }

// Changes of the slots with no other change in between.
extension Keychain {
  func addSlot(_ slot: SlotRecord, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try addSlot(slot, given: slots, vaultKey: vaultKey)
  }

  func replaceSlot(_ slot: SlotRecord, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try replaceSlot(slot, given: slots, vaultKey: vaultKey)
  }

  func removeSlot(id: UInt32, vaultKey: borrowing SecureBytes) throws(VaultError) {
    try removeSlot(id: id, given: slots, vaultKey: vaultKey)
  }
}

extension Keychain {
  /// Returns a copy of a value, for comparison.
  func read(_ text: String, version: Int? = nil, now: Int64 = 2000, evenExpired: Bool = false) throws -> [UInt8] {
    try withValue(of: ItemName(text), version: version, now: now, evenExpired: evenExpired) { _, _, bytes in
      unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }

  func text(_ name: String, version: Int? = nil, now: Int64 = 2000, evenExpired: Bool = false) throws -> String {
    String(decoding: try read(name, version: version, now: now, evenExpired: evenExpired), as: UTF8.self)
  }

  /// Stores a note by default.
  @discardableResult
  func put(
    _ text: String, _ value: String = "value", kind: ItemKind? = .note, attributes: [String: String]? = nil,
    accessible: AccessClass? = nil, require: Requirement? = nil, expires: Int64?? = .none, update: Bool = false,
    now: Int64 = 2000
  ) throws -> Int {
    try set(
      ItemChange(
        name: ItemName(text), kind: kind, attributes: attributes, accessible: accessible, require: require,
        expires: expires, update: update), value: secret(value), now: now
    ).number
  }

  /// Takes the item of this name that was deleted last out of the trash, with a search that is made at once.
  func restore(_ name: ItemName, now: Int64, ahead: SealedAhead? = nil) throws(VaultError) {
    try restore(name, found: TrashSearch(), now: now, ahead: ahead)
  }

  func names(_ query: String, now: Int64 = 2000) throws -> [String] {
    var found: [String] = []
    var after: Int64?
    repeat {
      let page = try find(Query(parsing: query), limit: 100, after: after, now: now)
      found += page.items.map(\.name.text)
      after = page.next
    } while after != nil
    return found
  }
}
