import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// Stores whose files are copied, removed or moved, and whose clock jumps.
@Suite struct PlaceTests {
  private let manager = FileManager.default

  @Test("a copy of a closed store is the same vault, and the two go their own ways")
  func copied() throws {
    let fixture = try IntegrityTests.filled()
    let copy = try Fixture(create: false)
    try manager.copyItem(atPath: fixture.directory, toPath: copy.directory)
    let (first, second) = (try fixture.unlocked(), try copy.open())
    try second.unlock(vaultKey: fixture.vaultKey)
    try first.put("only here")
    try second.put("only there")
    for (keychain, here, there) in [(first, "only here", "only there"), (second, "only there", "only here")] {
      #expect(try keychain.text(here) == "value")
      #expect(throws: VaultError.noSuchItem) { try keychain.text(there) }
      #expect(try keychain.verify().isOK)
    }
  }

  @Test("records of a copy that went its own way are noticed")
  func mixed() throws {
    let fixture = try IntegrityTests.filled()
    let copy = try Fixture(create: false)
    try manager.copyItem(atPath: fixture.directory, toPath: copy.directory)
    do {
      let keychain = try copy.open()
      try keychain.unlock(vaultKey: fixture.vaultKey)
      try keychain.put("room 0/item 1", "theirs", update: true)
    }
    try fixture.unlocked().put("room 0/item 1", "ours", update: true)
    try fixture.putBack(copy.copied("vals", where: "item = 2"))
    let result = try fixture.unlocked().verify()
    #expect(result.findings.contains { $0.kind == .replayed && $0.item == 2 })
  }

  @Test("a copy of an open store's files opens to a moment of it")
  func copiedWhileOpen() throws {
    let fixture = try IntegrityTests.filled()
    let keychain = try fixture.unlocked()
    try keychain.put("late")
    let copy = try FileCopy(fixture.files())
    let other = try Keychain(opening: copy.directory)
    try other.unlock(vaultKey: fixture.vaultKey)
    #expect(try other.text("late") == "value")
    #expect(try other.verify().isOK)
    withExtendedLifetime(keychain) {}
  }

  @Test("a store whose directory was taken away can be read, takes no change, and is none when it is opened again")
  func vanished() throws {
    let fixture = try IntegrityTests.filled()
    let expected = try Contents(fixture.unlocked())
    do {
      // A new keychain, which has not read anything yet.
      let keychain = try fixture.unlocked()
      try manager.removeItem(atPath: fixture.directory)
      #expect(try Contents(keychain) == expected)
      expectCorrupt { try keychain.put("new") }
      expectCorrupt { try keychain.put("room 1/item 1", "changed", update: true) }
      expectCorrupt { try keychain.delete([name("room 1/item 1")]) }
      expectCorrupt { try keychain.move(from: name("room 1/item 1"), to: name("moved"), now: 3000) }
      expectCorrupt { try keychain.addSlot(fixture.slot(9, "another"), vaultKey: fixture.vaultKey) }
      #expect(try !keychain.verify().isOK)
      #expect(try Contents(keychain) == expected)
    }
    #expect(throws: VaultError.noVault) { try fixture.open() }
    #expect(!manager.fileExists(atPath: fixture.directory))
  }

  @Test("a clock that jumps back and forth loses nothing, and the newest time stays")
  func clock() throws {
    let fixture = try Fixture()
    let times: [Int64] = [2000, -5, 4_000_000_000, 0, .max, 1, .min, 3000]
    do {
      let keychain = try fixture.unlocked()
      for (index, time) in times.enumerated() { try keychain.put("item \(index)", "\(index)", now: time) }
      #expect(keychain.newestTime == .max)
    }
    let keychain = try fixture.unlocked()
    #expect(keychain.newestTime == .max)
    for index in times.indices { #expect(try keychain.text("item \(index)", now: 10) == "\(index)") }
    #expect(try keychain.verify().isOK)
  }
}
