import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct TransactionTests {
  @Test("many changes in one transaction are all kept")
  func all() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      let versions = try keychain.transaction { () throws(VaultError) in
        var versions: [Int] = []
        for index in 0..<50 {
          let change = ItemChange(name: items[index], kind: .note)
          versions.append(try keychain.set(change, value: secret("x"), now: 3000).number)
        }
        return versions
      }
      #expect(versions == Array(repeating: 1, count: 50))
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.names("").count == 50)
    #expect(try keychain.itemCount() == 50)
    #expect(keychain.newestTime == 3000)
  }

  @Test("when one change fails none is kept, also if the error is caught inside")
  func none() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("taken", "old")
    let slot = try fixture.slot(7, "other")
    let taken = try name("taken")
    for swallow in [true, false] {
      #expect(throws: VaultError.alreadyExists) {
        try keychain.transaction { () throws(VaultError) in
          try keychain.set(ItemChange(name: items[1], kind: .note), value: secret("x"), now: 9000)
          try keychain.addSlot(slot, vaultKey: fixture.vaultKey)
          do throws(VaultError) {
            try keychain.set(ItemChange(name: taken, kind: .note), value: secret("new"), now: 9000)
          } catch {
            if !swallow { throw error }
          }
        }
      }
      #expect(try keychain.names("") == ["taken"])
      #expect(try keychain.text("taken") == "old")
      #expect(keychain.newestTime == 2000)
      #expect(keychain.slots.map(\.id) == [1])
      #expect(try keychain.itemCount() == 1)
    }
    // The keychain still works.
    #expect(try keychain.put("next") == 1)
  }

  @Test("what fails in the caller's own work undoes the changes before it")
  func callersError() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    #expect(throws: VaultError.noSuchItem) {
      try keychain.transaction { () throws(VaultError) in
        try keychain.set(ItemChange(name: items[1], kind: .note), value: secret("x"), now: 9000)
        throw .noSuchItem
      }
    }
    #expect(try keychain.names("").isEmpty)
  }

  private let items = (0..<50).compactMap { try? ItemName("item \($0)") }
}
