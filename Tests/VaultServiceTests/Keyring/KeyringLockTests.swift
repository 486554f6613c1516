import Testing
import VaultModel

@testable import VaultService

/// The view that programs have of a vault that is locked in its several ways.
@Suite("The keyring of a locked vault") struct KeyringLockTests {
  private static func hidingNames(_ accessible: AccessClass = .afterFirstUnlock) -> VaultSettings {
    var settings = VaultSettings()
    settings.hideNames = true
    settings.keyring.accessible = accessible
    return settings
  }

  @Test("shows items after a program's lock as locked, with all but their values, and tells of that once")
  func shut() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", "A label", [("a", "1")])
    let passing = try stand.make("s", "passing", [("a", "2")], in: .session)
    // No other lock closes this item.
    let kept = try stand.make("k", "kept", [("a", "3")])
    var change = ItemChange(name: try ItemName("secret-service/login/\(kept.element)"), update: true)
    change.accessible = .always
    _ = try stand.rooms.items.set(change, .same, for: stand.rooms.administrator) { _ in false }
    _ = stand.take()
    try stand.keyring.lock(for: stand.program)
    #expect(stand.take() == ["locks"])
    #expect(stand.rooms.vault.state.cause == .program)
    try stand.keyring.lock(for: stand.program)
    #expect(stand.take() == [])
    for (path, value) in [(path, "1"), (passing, "2"), (kept, "3")] {
      let item = try stand.keyring.item(path, for: stand.program)
      #expect(item.isLocked && item.label != "" && item.attributes["a"] == value)
      let hits = try stand.find([("a", value)])
      #expect(hits.map(\.path) == [path] && hits.allSatisfy(\.isLocked))
      #expect(!stand.keyring.serves(.item(path), stand.program))
      #expect(stand.keyring.mayBeServed(.item(path), stand.program))
      #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
      #expect(throws: KeyringFault.isLocked) {
        try stand.keyring.set(KeyringStand.secret("w"), of: path, for: stand.program)
      }
      #expect(throws: KeyringFault.isLocked) {
        try stand.keyring.set(label: "w", attributes: nil, of: path, for: stand.program)
      }
      #expect(throws: KeyringFault.isLocked) { try stand.keyring.delete(path, for: stand.program) }
      #expect(throws: KeyringFault.isLocked) { try stand.make("n", in: path.collection) }
    }
    let unknown = KeyringPath(.login, "0123456789abcdef")
    #expect(throws: KeyringFault.noSuchObject) { try stand.keyring.item(unknown, for: stand.program) }
    #expect(!stand.keyring.mayBeServed(.item(unknown), stand.program))
    try stand.rooms.unlock()
    #expect(try stand.value(path) == "text/plain v" && stand.value(passing) == "text/plain s")
    stand.vault.lock(because: .idle)
    #expect(try stand.value(kept) == "text/plain k" && stand.find([("a", "3")]).map(\.isLocked) == [false])
  }

  @Test("a lock by a program is told once, too, if the vault is locked already") func shutLater() throws {
    let stand = try KeyringStand()
    stand.vault.lock(because: .idle)
    _ = stand.take()
    try stand.keyring.lock(for: stand.program)
    #expect(stand.take() == ["locks"])
  }

  @Test("with hidden names, finds what stays readable, as long as nothing else can be in the collection")
  func hidden() throws {
    let stand = try KeyringStand(Self.hidingNames())
    let path = try stand.make("v", "x", [("a", "1")])
    stand.vault.lock(because: .idle)
    #expect(try stand.find([("a", "1")]).map(\.path) == [path])
    #expect(try stand.find([("a", "2")]).isEmpty && stand.find([("a", "1")], in: .login).count == 1)
    #expect(try stand.value(path) == "text/plain v")
    #expect(try stand.keyring.item(path, for: stand.program).attributes["a"] == "1")
    // A new item could take a name that is hidden.
    #expect(stand.keyring.isLocked(.login, for: stand.program))
    #expect(throws: KeyringFault.isLocked) { try stand.make("w") }
    try stand.rooms.unlock()

    let made = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    let other = try stand.make("o", "y", [("a", "3")], in: made)
    var change = ItemChange(name: try ItemName("secret-service/login/\(path.element)"), update: true)
    change.accessible = .whenUnlocked
    _ = try stand.rooms.items.set(change, .same, for: stand.rooms.administrator) { _ in false }
    stand.vault.lock(because: .idle)
    for collection in [nil, CollectionID.login] {
      #expect(stand.keyring.hidesItems(in: collection))
      #expect(throws: KeyringFault.isLocked) { try stand.find([("a", "1")], in: collection) }
    }
    // An object of which nobody can tell is locked, and not missing.
    #expect(throws: KeyringFault.isLocked) { try stand.keyring.item(path, for: stand.program) }
    #expect(stand.keyring.mayBeServed(.item(path), stand.program) && !stand.keyring.serves(.item(path), stand.program))
    #expect(try stand.find([("a", "3")], in: made).map(\.path) == [other])
    #expect(try stand.find([("a", "1")], in: made).isEmpty)
    #expect(try stand.value(other) == "text/plain o")
    // A sleep hides the rest.
    stand.vault.lock(because: .sleep)
    #expect(throws: KeyringFault.isLocked) { try stand.find([("a", "3")], in: made) }
    try stand.rooms.unlock()
    #expect(try stand.find([("a", "1")]).map(\.path) == [path])
  }

  @Test("with hidden names, finds nothing among shared items, which nobody counts") func hiddenShares() throws {
    var settings = Self.hidingNames()
    settings.keyring.shares = [try ItemPattern("iot/*")]
    let stand = try KeyringStand(settings)
    stand.vault.lock(because: .idle)
    #expect(stand.keyring.hidesItems() && stand.keyring.hidesItems(in: .shared))
    #expect(!stand.keyring.hidesItems(in: .login))
  }

  @Test("a search that a lock overtakes throws, and never finds less") func overtaken() throws {
    let stand = try KeyringStand(Self.hidingNames(.whenUnlocked))
    for _ in 0..<3 { try stand.make("v", "x", [("a", "1")]) }
    var search = try stand.keyring.search(KeyringAttributes(), for: stand.program)
    stand.vault.lock(because: .idle)
    #expect(throws: KeyringFault.isLocked) { try stand.keyring.step(&search, until: .max, for: stand.program) }
  }

  @Test("learns and tells nothing while it is off") func off() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    try stand.restart()
    stand.keyring.isOn = false
    _ = stand.take()
    try TextFile.replace(stand.vault.directory + "/keyring", with: "vault keyring 1\ndefault login\n")
    try stand.rooms.unlock()
    try stand.rooms.set("secret-service/.collections/login")
    #expect(stand.take() == [])
    #expect(try TextFile.readOwn(stand.vault.directory + "/keyring", limit: 1000).count == 30)
    stand.keyring.isOn = true
    #expect(stand.keyring.collections.contains(made))
  }
}
