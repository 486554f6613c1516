import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// The hashes over all records: their values after each change, and the damage that they find.
@Suite struct IntegrityTests {
  /// Stores items of all classes, some with several versions, attributes and folders.
  static func fill(_ keychain: Keychain) throws {
    for (index, accessible) in AccessClass.allCases.enumerated() {
      for item in 0..<4 {
        let text = "room \(index)/item \(item)"
        try keychain.put(text, "value \(index).\(item)", attributes: ["place": "\(item)"], accessible: accessible)
        if item > 1 { try keychain.put(text, "value \(index).\(item) again", update: true) }
      }
    }
  }

  static func filled() throws -> Fixture {
    let fixture = try Fixture()
    try fill(fixture.unlocked())
    return fixture
  }

  @Test("a new vault is whole, and nothing is known before a check")
  func new() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    #expect(keychain.integrity == .unchecked)
    #expect(try keychain.verify().isOK)
    #expect(keychain.integrity == .ok)
  }

  @Test("after every kind of change the store is still whole, also when it is opened again")
  func changes() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      func check(_ what: String) throws {
        let result = try keychain.verify()
        #expect(result.isOK, "\(what): \(result.findings.map(\.text))")
      }
      try Self.fill(keychain)
      try check("created")
      for index in 0..<12 { try keychain.put("room 0/item 0", "version \(index)", update: true) }
      try check("pruned")
      try keychain.set(ItemChange(name: name("room 0/item 1"), attributes: ["other": "x"], update: true), now: 3000)
      try check("attributes")
      try keychain.move(from: name("room 1/item 1"), to: name("elsewhere/item"), now: 3000)
      try check("moved")
      try keychain.set(ItemChange(name: name("room 0/item 2"), accessible: .always, update: true), now: 3000)
      try check("other class")
      try keychain.set(ItemChange(name: name("room 0/item 3"), require: .password, update: true), now: 3000)
      try check("policy")
      try keychain.delete([name("room 2/item 0"), name("room 2/item 3")], now: 4000)
      try check("deleted")
      try keychain.trash([name("room 1/item 0"), name("room 1/item 2")], now: 4000)
      try check("in the trash")
      try keychain.restore(name("room 1/item 2"), now: 5000)
      try check("back from the trash")
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      try keychain.replaceSlot(fixture.slot(2, "other"), vaultKey: fixture.vaultKey)
      try check("slots")
      try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey)
      try keychain.setBootKey(RandomBytes.secret(count: 32), vaultKey: fixture.vaultKey)
      try check("keys")
      try keychain.transaction { () throws(VaultError) in
        for index in 0..<20 {
          guard let name = try? ItemName("many/\(index)") else { throw .noSuchItem }
          try keychain.set(ItemChange(name: name, kind: .note), value: secret("x"), now: 5000)
        }
      }
      try check("many at once")
      #expect(throws: VaultError.noSuchItem) {
        try keychain.transaction { () throws(VaultError) in
          guard let name = try? ItemName("many/1") else { return }
          try keychain.delete([name])
          throw .noSuchItem
        }
      }
      try check("rolled back")
    }
    #expect(try fixture.unlocked().verify().isOK)
  }

  @Test("changes that are made while locked, or before the first unlock, keep the store whole")
  func locked() throws {
    let fixture = try Self.filled()
    do {
      let keychain = try fixture.open()
      try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
      try keychain.openAlways(bootKey: fixture.bootKey)
      try keychain.put("room 2/item 0", "renewed", update: true)
      try keychain.removeSlot(id: 1, vaultKey: fixture.vaultKey)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      keychain.lock(hidingNames: false)
      try keychain.put("new", accessible: .afterFirstUnlock)
      try keychain.put("room 1/item 0", "renewed", update: true)
      try keychain.delete([name("room 1/item 1")])
      try keychain.replaceSlot(fixture.slot(2, "third"), vaultKey: fixture.vaultKey)
    }
    let keychain = try fixture.unlocked()
    let result = try keychain.verify()
    #expect(result.isOK, "\(result.findings.map(\.text))")
  }

  @Test("slots cannot be changed with another vault's key")
  func otherKey() throws {
    let fixture = try Fixture()
    let keychain = try fixture.open()
    let slot = try fixture.slot(2, "second")
    expectCorrupt { try keychain.addSlot(slot, vaultKey: RandomBytes.secret(count: 32)) }
    #expect(keychain.slots.map(\.id) == [1])
  }

  @Test("a check while locked covers what it has keys for, and says what it left out")
  func partly() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: false)
    var result = try keychain.verify()
    #expect(result.findings.isEmpty && result.unchecked == [.whenUnlocked] && !result.isOK)
    #expect(keychain.integrity == .unchecked)
    keychain.wipe()
    result = try keychain.verify()
    #expect(result.unchecked == AccessClass.allCases)
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(try keychain.verify().unchecked == [.whenUnlocked, .afterFirstUnlock])
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(try keychain.verify().isOK)
    // The result is kept when a later check has fewer keys.
    keychain.lock(hidingNames: false)
    _ = try keychain.verify()
    #expect(keychain.integrity == .ok)
  }

  @Test(
    "a check in steps takes changes into account that are made between any two of them", arguments: [1, 2, 3, 7, 50])
  func steps(records: Int) throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    guard case .checking(0, let total) = keychain.integrity else { throw VaultError.corrupt("no check") }
    #expect(total > 60)
    var result: Verification?
    var turn = 0
    while result == nil {
      result = try keychain.continueVerification(records: records)
      turn += 1
      guard result == nil, turn < 60 else { continue }
      switch turn % 6 {
      case 0: try keychain.put("new \(turn)", attributes: ["place": "1"])
      case 1: try keychain.put("room 0/item \(turn % 4)", "changed \(turn)", update: true)
      case 2: try keychain.put("a \(turn)", accessible: .always)
      case 3:
        try keychain.set(
          ItemChange(
            name: name("room 1/item 2"), accessible: turn % 4 == 1 ? .always : .whenUnlocked, update: true), now: 3000)
      case 4: try keychain.delete([name("a \(turn - 2)")])
      default: expect(\.isInvalidValue) { try keychain.set(ItemChange(name: name("nobody")), now: 3000) }
      }
    }
    #expect(result?.isOK == true, "\(result?.findings.map(\.text) ?? [])")
    #expect(keychain.integrity == .ok)
  }

  @Test("taking the hashes away does not make a store look like one that never had them")
  func withoutHashes() throws {
    let fixture = try Self.filled()
    try fixture.sql("DELETE FROM hashes", "DELETE FROM heads WHERE id = 1")
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().findings.count >= 4)
    expectCorrupt { try keychain.put("new") }
  }

  @Test("a lock in the middle of a check leaves its class out")
  func lockedMeanwhile() throws {
    let fixture = try Self.filled()
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 3) == nil)
    keychain.lock(hidingNames: true)
    var result: Verification?
    while result == nil { result = try keychain.continueVerification(records: 10) }
    #expect(result?.findings == [] && result?.unchecked == [.whenUnlocked])
    #expect(keychain.integrity == .unchecked)
  }

  @Test("one that comes while it is looked for what is wrong leaves no class out without a word")
  func lockedInSurvey() throws {
    for records in stride(from: 1, to: 400, by: 13) {
      let fixture = try Self.filled()
      let last = "SELECT max(id) FROM heads WHERE class = \(AccessClass.whenUnlocked.rawValue)"
      try fixture.sql("DELETE FROM tags WHERE item = (\(last))")
      let keychain = try fixture.unlocked()
      keychain.beginVerification()
      var result = try keychain.continueVerification(records: records)
      keychain.lock(hidingNames: true)
      while result == nil { result = try keychain.continueVerification(records: 5) }
      let isTold = result?.unchecked == [.whenUnlocked] || result?.harmed == 1
      #expect(isTold, "after \(records): \(String(describing: result))")
    }
  }

  @Test("a store that failed is still read, and not written to until it is opened anew")
  func failed() throws {
    let fixture = try Self.filled()
    let old = try fixture.copied("tags", where: "item = 1")
    try fixture.sql("DELETE FROM tags WHERE item = 1")
    do {
      let keychain = try fixture.unlocked()
      #expect(try !keychain.verify().isOK)
      #expect(keychain.integrity == .failed)
      #expect(try keychain.text("room 0/item 1") == "value 0.1")
      expectCorrupt { try keychain.put("new") }
      expectCorrupt { try keychain.delete([name("room 0/item 1")]) }
      expectCorrupt { try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey) }
      keychain.beginVerification()
      expectCorrupt { try keychain.put("new") }
    }
    try fixture.putBack(old)
    let keychain = try fixture.unlocked()
    #expect(try keychain.verify().isOK)
    try keychain.put("new")
  }

  @Test("what was met once is told by every later check of the same opening, and keeps the store from being written to")
  func failedForGood() throws {
    let fixture = try Self.filled()
    do {
      let keychain = try fixture.unlocked()
      #expect(try keychain.verify().isOK)
      // A request met damage that is gone by now.
      keychain.notice(.corrupt("item 3 cannot be read"))
      for _ in 0..<2 {
        let result = try keychain.verify()
        #expect(
          result.findings.map(\.text)
            == ["found since the store was opened, and not by this check: item 3 cannot be read"])
        #expect(!result.isOK && result.harmed == 0)
        #expect(keychain.integrity == .failed)
        expectCorrupt { try keychain.put("new") }
      }
      // Neither a check with fewer keys nor an unlock clears the result.
      keychain.lock(hidingNames: true)
      #expect(try !keychain.verify().findings.isEmpty)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      #expect(keychain.integrity == .failed)
      expectCorrupt { _ = try keychain.beginBackup(now: 2000) }
    }
    #expect(try fixture.unlocked().verify().isOK)
  }
}
