import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct LockTests {
  /// Makes one item of each class, and closes the vault.
  private func fixture() throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for accessible in AccessClass.allCases {
      try keychain.put(accessible.name, "value of \(accessible.name)", accessible: accessible)
    }
    return fixture
  }

  private func served(_ keychain: Keychain) -> [AccessClass] {
    AccessClass.allCases.filter { (try? keychain.text($0.name)) == "value of \($0.name)" }
  }

  @Test("without any key nothing is told: every name is locked")
  func noKeys() throws {
    let keychain = try fixture().open()
    for text in AccessClass.allCases.map(\.name) + ["nobody"] {
      #expect(throws: VaultError.locked) { try keychain.text(text) }
      #expect(throws: VaultError.locked) { try keychain.item(named: name(text)) }
      #expect(throws: VaultError.locked) { try keychain.put(text) }
      #expect(throws: VaultError.locked) { try keychain.delete([name(text)]) }
    }
    #expect(throws: VaultError.locked) { try keychain.names("") }
    #expect(try keychain.itemCount() == 3)
  }

  @Test("cold, the always items are served, and an unknown name is locked rather than unknown")
  func cold() throws {
    let fixture = try fixture()
    let keychain = try fixture.open()
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(served(keychain) == [.always])
    #expect(throws: VaultError.locked) { try keychain.text("when-unlocked") }
    #expect(throws: VaultError.locked) { try keychain.text("nobody") }
    #expect(try keychain.names("") == ["always"])
    #expect(!keychain.knowsAllNames)
    // A device renews its own token while nobody is there; a name that may be taken is refused.
    #expect(try keychain.put("always", "renewed", update: true) == 2)
    #expect(try keychain.text("always") == "renewed")
    #expect(throws: VaultError.locked) { try keychain.put("new", accessible: .always) }
    #expect(throws: VaultError.locked) { try keychain.move(from: name("always"), to: name("new"), now: 1) }
    #expect(throws: VaultError.locked) { try keychain.put("always", accessible: .whenUnlocked, update: true) }
  }

  @Test("locking keeps names and the other classes, and closes when-unlocked values")
  func locked() throws {
    let fixture = try fixture()
    let keychain = try fixture.unlocked()
    #expect(served(keychain) == AccessClass.allCases)
    keychain.lock(hidingNames: false)
    #expect(served(keychain) == [.afterFirstUnlock, .always])
    #expect(throws: VaultError.locked) { try keychain.text("when-unlocked") }
    #expect(try keychain.item(named: name("when-unlocked")).kind == .note)
    #expect(try keychain.names("") == ["when-unlocked", "after-first-unlock", "always"])
    #expect(throws: VaultError.noSuchItem) { try keychain.text("nobody") }
    for update in [true, false] {
      #expect(throws: VaultError.locked) { try keychain.put("when-unlocked", "x", update: update) }
    }
    #expect(throws: VaultError.locked) { try keychain.put("new") }
    #expect(throws: VaultError.locked) { try keychain.delete([name("when-unlocked")]) }
    #expect(throws: VaultError.locked) { try keychain.delete([name("always"), name("when-unlocked")]) }
    #expect(throws: VaultError.locked) { try keychain.move(from: name("when-unlocked"), to: name("x"), now: 1) }
    #expect(throws: VaultError.locked) { try keychain.put("always", accessible: .whenUnlocked, update: true) }
    #expect(try keychain.put("new", accessible: .afterFirstUnlock) == 1)
    #expect(served(keychain) == [.afterFirstUnlock, .always])
  }

  @Test("locking with names hidden closes searching too, and unlocking brings all back")
  func hidden() throws {
    let fixture = try fixture()
    let keychain = try fixture.unlocked()
    keychain.lock(hidingNames: true)
    #expect(served(keychain) == [.afterFirstUnlock, .always])
    #expect(throws: VaultError.locked) { try keychain.item(named: name("when-unlocked")) }
    #expect(throws: VaultError.locked) { try keychain.item(named: name("nobody")) }
    #expect(throws: VaultError.locked) { try keychain.put("when-unlocked", accessible: .always) }
    #expect(try keychain.names("") == ["after-first-unlock", "always"])
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(served(keychain) == AccessClass.allCases)
  }

  @Test("a lock that keeps nothing but always closes the names of both other classes")
  func nothingKept() throws {
    let keychain = try fixture().unlocked()
    keychain.lock(hidingNames: true, keepingAfterFirstUnlock: false)
    #expect(served(keychain) == [.always])
    #expect(AccessClass.allCases.filter(keychain.opensNames) == [.always])
    #expect(try keychain.names("") == ["always"])
    #expect(throws: VaultError.locked) { try keychain.item(named: name("after-first-unlock")) }
  }

  @Test("wiping takes all keys")
  func wiped() throws {
    let fixture = try fixture()
    let keychain = try fixture.unlocked()
    keychain.wipe()
    #expect(served(keychain).isEmpty)
    #expect(keychain.newestTime == 0)
    try keychain.openAlways(bootKey: fixture.bootKey)
    #expect(served(keychain) == [.always])
  }

  @Test("another vault key or boot key opens nothing and changes nothing")
  func wrongKeys() throws {
    let fixture = try fixture()
    let keychain = try fixture.open()
    let wrong = RandomBytes.secret(count: 32)
    expectCorrupt { try keychain.unlock(vaultKey: wrong) }
    expectCorrupt { try keychain.openAlways(bootKey: wrong) }
    expectCorrupt { try keychain.unlock(vaultKey: fixture.bootKey) }
    expectCorrupt { try keychain.openAlways(bootKey: fixture.vaultKey) }
    #expect(served(keychain).isEmpty)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    expectCorrupt { try keychain.unlock(vaultKey: wrong) }
    #expect(served(keychain) == AccessClass.allCases)
  }

  @Test("a new boot key takes the place of the old one")
  func bootKey() throws {
    let fixture = try fixture()
    let keychain = try fixture.open()
    let other = RandomBytes.secret(count: 32)
    try keychain.setBootKey(other, vaultKey: fixture.vaultKey)
    #expect(throws: VaultError.self) { try keychain.openAlways(bootKey: fixture.bootKey) }
    try keychain.openAlways(bootKey: other)
    #expect(served(keychain) == [.always])
  }

  @Test("a name is taken in all classes at once")
  func unique() throws {
    let keychain = try fixture().unlocked()
    for taken in AccessClass.allCases {
      for wanted in AccessClass.allCases {
        #expect(throws: VaultError.alreadyExists) { try keychain.put(taken.name, accessible: wanted) }
      }
    }
    #expect(served(keychain) == AccessClass.allCases)
  }
}
