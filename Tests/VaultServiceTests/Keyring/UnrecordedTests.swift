import Testing
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("A keyring whose calls cannot be recorded") struct UnrecordedTests {
  @Test(
    "finds everything locked in a store that has failed its check, where an entry is required",
    arguments: [AuditSettings.Mode.on, .required])
  func failed(mode: AuditSettings.Mode) throws {
    var settings = VaultSettings()
    settings.audit.mode = mode
    let stand = try KeyringStand(settings)
    let (keyring, program) = (stand.keyring, stand.program)
    let path = try stand.make("v", "label", [("a", "1")])
    let made = try keyring.makeCollection("Own", isStandard: false, for: program)
    try stand.vault.keychain().notice(Finding(.damaged, "something was changed"))
    let isServed = mode == .on
    for collection in [CollectionID.login, .session, made] {
      #expect(keyring.isLocked(collection, for: program) != isServed, "\(collection)")
    }
    #expect(keyring.hidesItems() != isServed)
    #expect(try keyring.describe(made, for: program).label == (isServed ? "Own" : ""))
    guard !isServed else {
      let value = try stand.value(path)
      #expect(value == "text/plain v")
      #expect(try stand.find([("a", "1")]).map(\.path) == [path])
      return
    }
    #expect(throws: KeyringFault.isLocked) { _ = try stand.value(path) }
    #expect(throws: KeyringFault.isLocked) { _ = try stand.find([("a", "1")]) }
    #expect(throws: KeyringFault.isLocked) { try stand.make("new") }
    #expect(throws: KeyringFault.isLocked) { try keyring.delete(path, for: program) }
    #expect(throws: KeyringFault.isLocked) { _ = try keyring.remove(made, for: program) }
    // An unknown item is no less locked, so that no program takes it for gone.
    let unknown = KeyringPath(.login, "0123456789abcdef")
    #expect(throws: KeyringFault.isLocked) { _ = try keyring.item(unknown, for: program) }
    #expect(keyring.collection(alias: "default") == .login)
  }

  @Test("neither gives away nor changes an item of the session before the entry of that is on the disk")
  func session() throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    var disk: SmallDisk?
    let stand = try KeyringStand(settings) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    let (keyring, program, audit) = (stand.keyring, stand.program, stand.vault.audit)
    let path = try stand.make("v", in: .session)
    /// Makes a call on a disk that takes more and more writes, until the call is answered; looks after each refusal.
    func call(_ body: () throws -> Void, refused look: () throws -> Void) throws {
      for writes in 0..<64 {
        #expect(audit.write())
        disk?.fill(after: writes)
        var isDone = false
        do {
          try body()
          isDone = true
        } catch KeyringFault.isLocked {}
        disk?.free()
        #expect(audit.write())
        if isDone { return }
        try look()
      }
      Issue.record("no number of writes is enough")
    }
    var given = 0
    try call {
      _ = try keyring.secret(path, for: program, Said()) { _, _ in given += 1 }
    } refused: {
      #expect(given == 0)
    }
    #expect(given == 1)
    try call {
      try keyring.set(KeyringStand.secret("w"), of: path, for: program)
    } refused: {
      let value = try stand.value(path)
      #expect(value == "text/plain v")
    }
    try call {
      try keyring.delete(path, for: program)
    } refused: {
      let value = try stand.value(path)
      #expect(value == "text/plain w")
    }
    #expect(throws: KeyringFault.noSuchObject) { _ = try stand.value(path) }
    let told = try AuditTests.told(stand.rooms)
    for action in ["get", "set", "delete"] {
      #expect(told.contains { $0.hasPrefix("\(action) failed secret-service/session/") }, "\(told)")
    }
    // The item was set twice.
    for (action, count) in [("set", 2), ("delete", 1)] {
      #expect(told.count { $0.hasPrefix("\(action) ok secret-service/session/") } == count, "\(told)")
    }
  }

  @Test("has an entry of the refusal of a call that was refused after it had searched what it replaces") func part()
    throws
  {
    var settings = VaultSettings()
    settings.audit.mode = .required
    let stand = try KeyringStand(settings)
    let (audit, program) = (stand.vault.audit, stand.program)
    for isExact in [false, true] {
      try audit.begin(CallTerms("a call", needs: .logUnlessLocked, entry: .first), for: program)
      _ = try stand.find(isExact: isExact)
      try audit.pass(.locked, isLast: true, for: program)
    }
    let told = try AuditTests.told(stand.rooms).filter { $0.hasPrefix("find ") || $0.hasPrefix("call ") }
    #expect(told == ["find ok keyring", "find ok keyring", "call locked a call"], "\(told)")
  }
}
