import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// The content of every item, for comparing two states of a vault.
struct Contents: Equatable, CustomStringConvertible {
  struct Item: Equatable {
    var info: ItemInfo
    var values: [[UInt8]]
  }
  var items: [String: Item] = [:]

  /// Reads everything in an unlocked vault, by name and by attribute.
  init(_ keychain: Keychain) throws {
    for name in try keychain.names("") {
      let info = try keychain.item(named: ItemName(name))
      let values = try info.versions.map { try keychain.read(name, version: $0.number) }
      items[name] = Item(info: info, values: values)
      for (key, value) in info.attributes { #expect(try keychain.names("\(key)=\(value)").contains(name)) }
    }
    #expect(try keychain.itemCount() == items.count)
  }

  var description: String { "\(items.keys.sorted())" }
}

extension Fixture {
  static let nextKey = [UInt8](repeating: 7, count: 32)

  /// Makes the single slot of the vault under its next key.
  func nextSlot(_ id: UInt32 = 1) throws -> SlotRecord {
    try SlotRecord.make(
      id: id, kind: .recovery, label: "slot 1, again", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: secret(Self.nextKey), vaultID: vaultID)
  }

  /// Begins a rekey, and checks the store, because otherwise the rekey does not continue.
  func rekey(_ keychain: Keychain) throws -> Rekey {
    let rekey = try Rekey(
      keychain, carrying: keychain.slots, slots: [nextSlot()], nextKey: secret(Self.nextKey), vaultKey: vaultKey,
      bootKey: bootKey, now: 2000)
    if !keychain.isVerified { _ = try keychain.verify() }
    return rekey
  }

  func resume(_ keychain: Keychain) throws -> Rekey {
    guard let next = try keychain.nextKey(vaultKey: vaultKey) else { throw VaultError.noVault }
    let rekey = try Rekey(resuming: keychain, nextKey: next)
    if !keychain.isVerified { _ = try keychain.verify() }
    return rekey
  }

  /// Makes a vault with items of every class, some with several versions, and some deleted.
  static func withItems(_ count: Int) throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<count {
      let accessible = AccessClass.allCases[index % 3]
      let name = "folder \(index % 4)/item \(index)"
      try keychain.put(name, "first \(index)", attributes: ["number": "\(index)"], accessible: accessible)
      if index % 2 == 0 { try keychain.put(name, "second \(index)", update: true, now: 2100) }
      if index % 5 == 4 { try keychain.delete([ItemName(name)]) }
    }
    return fixture
  }

  /// Returns the blobs in a table of the closed vault, in hexadecimal, without the identities of items, which stay the
  /// same.
  func blobs(_ table: String) throws -> [String] {
    try copied(table, where: "1").flatMap {
      $0.split(separator: "'").map(String.init).filter {
        $0.count >= (table == "heads" ? 33 : 32) && $0.allSatisfy(\.isHexDigit)
      }
    }
  }
}

extension Rekey {
  /// Runs the rekey to its end.
  func complete(records: Int = 16) throws {
    while try !step(records: records) {}
    try finish()
  }
}
