import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Rekeys: a vault gets a new key, and everything is sealed again under it.
@Suite struct RekeyTests {
  @Test("while a backup is read the new store does not take the old one's place, and then it does")
  func duringBackup() throws {
    let fixture = try Fixture.withItems(6)
    let keychain = try fixture.unlocked()
    let expected = try Contents(keychain)
    let rekey = try fixture.rekey(keychain)
    do {
      let stream = try keychain.beginBackup(now: 2000)
      #expect(!keychain.canBeReplaced)
      #expect(throws: VaultError.storage("a backup is being made")) { try rekey.complete() }
      // The rekey is back at its beginning.
      #expect(rekey.progress.done == 0 && rekey.progress.of == 5)
      #expect(try Contents(keychain) == expected)
      stream.wipe()
    }
    keychain.endBackup()
    #expect(keychain.canBeReplaced)
    try rekey.complete()
    #expect(try Contents(keychain) == expected)
  }

  @Test(
    "after a rekey everything is there, and the new key opens it and the old one does not", arguments: [1, 7, 1000])
  func complete(records: Int) throws {
    let fixture = try Fixture.withItems(20)
    let before: Contents
    do {
      let keychain = try fixture.unlocked()
      before = try Contents(keychain)
      try fixture.rekey(keychain).complete(records: records)
      #expect(try Contents(keychain) == before)
      #expect(keychain.integrity == .ok)
      #expect(!keychain.isRekeying)
      #expect(keychain.slots.map(\.label) == ["slot 1, again"])
      try keychain.put("later", "works")
      #expect(try keychain.verify().isOK)
      expectCorrupt { try keychain.unlock(vaultKey: fixture.vaultKey) }
    }
    #expect(try fixture.names() == ["vault.db", "vault.lock"])
    let keychain = try fixture.open()
    expectCorrupt { try keychain.unlock(vaultKey: fixture.vaultKey) }
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(try keychain.text("folder 2/item 2") == "second 2")
    try keychain.unlock(vaultKey: secret(Fixture.nextKey))
    try keychain.delete([name("later")])
    #expect(try Contents(keychain) == before)
    #expect(try keychain.verify().isOK)
  }

  @Test("what was read shortly before the new store took the old one's place is read after it too")
  func readBefore() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 16) {}
    for _ in 0..<2 { #expect(try keychain.text("folder 1/item 1") == "first 1") }
    try rekey.finish()
    #expect(try keychain.text("folder 1/item 1") == "first 1")
    #expect(keychain.integrity == .ok)
  }

  @Test("an item that is renamed behind the last step has its new name in the new store, though no count tells of it")
  func renamedAtTheEnd() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    while try !rekey.step(records: 16) {}
    try keychain.move(from: name("folder 1/item 1"), to: name("folder 1/other"), now: 3000)
    try #require(throws: VaultError.storage("the rekey is not finished")) { try rekey.finish() }
    try rekey.complete()
    #expect(try keychain.text("folder 1/other") == "first 1")
    #expect(throws: VaultError.noSuchItem) { try keychain.text("folder 1/item 1") }
  }

  @Test("a way in that became stale while a rekey went on is stale in the new store too")
  func staleMeanwhile() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    try keychain.markStale(.recovery)
    #expect(keychain.staleSlots == [1])
    try rekey.complete()
    #expect(keychain.slots.map(\.label) == ["slot 1, again"])
    #expect(keychain.staleSlots == [1])
    #expect(try keychain.verify().isOK)
  }

  @Test("nothing is copied from a store that was not checked since it was opened")
  func unchecked() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    let rekey = try Rekey(
      keychain, carrying: keychain.slots, slots: [fixture.nextSlot()], nextKey: secret(Fixture.nextKey),
      vaultKey: fixture.vaultKey, bootKey: fixture.bootKey, now: 2000)
    expect(\.isStorage) { _ = try rekey.step(records: 16) }
    #expect(rekey.progress.done == 0)
    #expect(try keychain.verify().isOK)
    try rekey.complete()
  }

  @Test("a step ends with an item whose values are long, in all versions together") func weight() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for name in ["a", "b", "c"] {
      for version in 1...4 { try keychain.put(name, String(repeating: "x", count: 16 << 10), update: version > 1) }
    }
    for name in ["d", "e", "f"] { try keychain.put(name, "short") }
    let rekey = try fixture.rekey(keychain)
    var done: [Int] = []
    while try !rekey.step(records: 4), done.last != 6 { done.append(rekey.progress.done) }
    #expect(done == [1, 2, 3, 6])
    while try !rekey.step(records: 4) {}
    try rekey.finish()
    #expect(try keychain.verify().isOK)
  }

  @Test("no record of the new store is one of the old")
  func fresh() throws {
    let fixture = try Fixture.withItems(10)
    let tables = ["heads", "vals", "tags", "keys", "hashes", "slots"]
    let old = Set(try tables.flatMap { try fixture.blobs($0) })
    try fixture.rekey(try fixture.unlocked()).complete()
    let new = Set(try tables.flatMap { try fixture.blobs($0) })
    #expect(new.count == old.count)
    #expect(old.isDisjoint(with: new))
  }

  @Test("what is changed while it goes on is in the new store as it was left", arguments: [1, 3])
  func changedMeanwhile(records: Int) throws {
    let fixture = try Fixture.withItems(40)
    let keychain = try fixture.unlocked()
    let rekey = try fixture.rekey(keychain)
    var number = 0
    var isReady = false
    var steps = 0
    while !isReady {
      steps += 1
      // There is a change at each step, and a last one at the end itself.
      if number < 60 {
        number += 1
        let names = try keychain.names("")
        let name = names[number * 7 % names.count]
        switch number % 5 {
        case 0: try keychain.put("new \(number)", attributes: ["number": "new"])
        case 1: try keychain.put(name, "changed \(number)", attributes: ["number": "\(number)"], update: true)
        case 2: try keychain.delete([ItemName(name)])
        case 3: try keychain.move(from: ItemName(name), to: ItemName("moved \(number)"), now: 3000)
        default: try keychain.put(name, "another class", accessible: AccessClass.allCases[number / 5 % 3], update: true)
        }
      }
      isReady = try rekey.step(records: records)
      if isReady, number == 60 {
        number += 1
        try keychain.put("at the last moment")
        #expect(throws: VaultError.self) { try rekey.finish() }
        isReady = false
      }
    }
    #expect(steps > 60 && number == 61)
    let before = try Contents(keychain)
    #expect(before.items["at the last moment"] != nil)
    try rekey.finish()
    #expect(try Contents(keychain) == before)
    #expect(try keychain.verify().isOK)
  }

  @Test("items keep their rows, and the numbers of slots are never used again, also when these did not come along")
  func numbers() throws {
    let fixture = try Fixture.withItems(5)
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "password"), vaultKey: fixture.vaultKey)
    let next = try keychain.nextRow(for: .whenUnlocked)
    try fixture.rekey(keychain).complete()
    #expect(keychain.slots.map(\.id) == [1])
    #expect(keychain.nextSlotID == 3)
    #expect(try keychain.nextRow(for: .whenUnlocked) == next)
    try keychain.put("new")
    #expect(try keychain.nextRow(for: .whenUnlocked) == next + 1)
  }

  @Test("a lock stops it, and nothing of the new keys is needed until the next unlock")
  func locked() throws {
    let fixture = try Fixture.withItems(20)
    let keychain = try fixture.unlocked()
    let before = try Contents(keychain)
    do {
      let rekey = try fixture.rekey(keychain)
      for _ in 0..<4 { #expect(try !rekey.step(records: 2)) }
      keychain.lock(hidingNames: false)
      #expect(throws: VaultError.locked) { try rekey.step(records: 2) }
    }
    #expect(throws: VaultError.locked) { try Rekey(resuming: keychain, nextKey: secret(Fixture.nextKey)) }
    try keychain.put("folder 0/item 16", "changed while it rests", accessible: .afterFirstUnlock, update: true)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try fixture.resume(keychain).complete()
    #expect(try keychain.text("folder 0/item 16") == "changed while it rests")
    #expect(try Contents(keychain).items.keys == before.items.keys)
  }

  @Test("slots that were added, replaced or removed since the new ones were made keep a rekey from beginning")
  func overtaken() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    func begin(_ carried: [SlotRecord]) throws {
      _ = try Rekey(
        keychain, carrying: carried, slots: [fixture.nextSlot()], nextKey: secret(Fixture.nextKey),
        vaultKey: fixture.vaultKey, bootKey: fixture.bootKey, now: 2000)
    }
    var seen = [keychain.slots]
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    seen.append(keychain.slots)
    try keychain.replaceSlot(fixture.slot(1, "changed"), vaultKey: fixture.vaultKey)
    seen.append(keychain.slots)
    try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
    for old in seen {
      #expect(throws: VaultError.overtaken) { try begin(old) }
      #expect(!keychain.isRekeying)
    }
    #expect(try fixture.names() == ["vault.db", "vault.db-wal", "vault.lock"])
    try begin(keychain.slots)
    #expect(keychain.isRekeying)
  }

  @Test("while one is under way no slot changes, and afterwards each can", arguments: [false, true])
  func slotsStay(isDropped: Bool) throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    try keychain.addSlot(fixture.slot(2, "second"), vaultKey: fixture.vaultKey)
    let slots = keychain.slots
    do {
      let rekey = try fixture.rekey(keychain)
      _ = try rekey.step(records: 1)
      #expect(throws: VaultError.rekeying) {
        try keychain.addSlot(fixture.slot(3, "third"), vaultKey: fixture.vaultKey)
      }
      #expect(throws: VaultError.rekeying) {
        try keychain.replaceSlot(fixture.slot(2, "changed"), vaultKey: fixture.vaultKey)
      }
      #expect(throws: VaultError.rekeying) { try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey) }
      #expect(keychain.slots == slots)
      if !isDropped {
        try rekey.complete()
        #expect(keychain.slots.map(\.id) == [1])
        return try keychain.addSlot(fixture.nextSlot(3), vaultKey: secret(Fixture.nextKey))
      }
    }
    try keychain.dropRekey()
    try keychain.removeSlot(id: 2, vaultKey: fixture.vaultKey)
    #expect(try keychain.verify().isOK)
  }

  @Test("one at a time, only with the vault's own key, and only with all keys in memory")
  func refused() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.open()
    #expect(throws: VaultError.locked) { try fixture.rekey(keychain) }
    try keychain.unlock(vaultKey: fixture.vaultKey)
    expectCorrupt {
      _ = try Rekey(
        keychain, carrying: keychain.slots, slots: [fixture.nextSlot()], nextKey: secret(Fixture.nextKey),
        vaultKey: secret(Fixture.nextKey), bootKey: fixture.bootKey, now: 2000)
    }
    #expect(!keychain.isRekeying)
    _ = try fixture.rekey(keychain)
    #expect(throws: VaultError.rekeying) { try fixture.rekey(keychain) }
    expectCorrupt { _ = try keychain.nextKey(vaultKey: secret(Fixture.nextKey)) }
    #expect(keychain.nextSlots().map(\.label) == ["slot 1, again"])
    try keychain.dropRekey()
    #expect(!keychain.isRekeying)
    #expect(try fixture.names() == ["vault.db", "vault.db-wal", "vault.lock"])
    #expect(try keychain.verify().isOK)
  }

  @Test("a store that nobody began is removed at opening if it is this vault's, and stays if it is another's")
  func stale() throws {
    let fixture = try Fixture.withItems(3)
    let foreign = try Fixture.withItems(3)
    let copy = try Fixture(copying: fixture)
    try FileManager.default.copyItem(atPath: copy.directory, toPath: fixture.path("rekey"))
    _ = try fixture.unlocked()
    #expect(!FileManager.default.fileExists(atPath: fixture.path("rekey")))

    try FileManager.default.copyItem(atPath: foreign.directory, toPath: fixture.path("rekey"))
    let keychain = try fixture.unlocked()
    #expect(FileManager.default.fileExists(atPath: fixture.path("rekey/vault.db")))
    expect(\.isStorage) { _ = try fixture.rekey(keychain) }
    #expect(!keychain.isRekeying)
    #expect(FileManager.default.fileExists(atPath: fixture.path("rekey/vault.db")))
  }
}
