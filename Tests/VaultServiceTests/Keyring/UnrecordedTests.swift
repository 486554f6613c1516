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
      #expect(try stand.value(path) == "text/plain v")
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
}
