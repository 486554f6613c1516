import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Names that are hidden") struct HiddenNamesTests {
  @Test("are wiped at once where the settings hide them from now on, and the vault is locked") func later() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.vault.lock(because: .asked)
    #expect(try stand.vault.keychain().opensNames(of: .whenUnlocked))
    var settings = VaultSettings()
    settings.hideNames = true
    stand.rooms.reconfigure(settings)
    #expect(try !stand.vault.keychain().opensNames(of: .whenUnlocked))
    #expect(stand.vault.state.kind == .locked && stand.vault.state.cause == .asked)
  }

  @Test("are told to be hidden before the first unlock and after a lock, and the trash is emptied whole or not at all")
  func told() throws {
    let stand = try RoomStand.unlocked()
    for name in ["a", "b"] { try stand.set(name, accessible: name == "a" ? .always : .whenUnlocked) }
    _ = try stand.items.delete([try ItemName("a"), try ItemName("b")], isForGood: false, for: stand.administrator)
    #expect(stand.vault.hidesNames == false)
    stand.vault.lock(because: .asked)
    #expect(stand.vault.hidesNames == false)
    var settings = VaultSettings()
    settings.hideNames = true
    stand.rooms.reconfigure(settings)
    #expect(stand.vault.hidesNames == true)
    #expect(throws: Refusal.self) { try stand.items.emptyTrash(after: nil, for: stand.administrator) }
    try stand.restart()
    #expect(stand.vault.hidesNames == true)
    #expect(throws: Refusal.self) { try stand.items.emptyTrash(after: nil, for: stand.administrator) }
    try stand.unlock()
    #expect(stand.vault.hidesNames == false)
    #expect(try stand.items.emptyTrash(after: nil, for: stand.administrator).gone == 2)
  }

  /// A person who is asked, the texts of the prompts, and the refusals.
  private final class Person: Prompter {
    let caller = RoomStand.caller()
    let isPresent = true
    private(set) var conversation: Conversation?
    private(set) var asked: [String] = []
    private(set) var refused: [Refusal] = []

    func begin(_ conversation: Conversation) { self.conversation = conversation }
    func show(_ prompt: Prompt) { asked.append(prompt.text) }
    func end() {}
    func finish(_: ConversationResult) {}
    func refuse(_ refusal: Refusal) { refused.append(refusal) }
  }

  @Test("are in no prompt that stays open after a lock, and a prompt without one stays", arguments: [true, false])
  func prompts(hides: Bool) throws {
    var settings = VaultSettings()
    settings.hideNames = hides
    let stand = try RoomStand.unlocked(settings)
    try stand.addPasswordSlot()
    try stand.set("secret", require: .password)
    let (naming, other) = (Person(), Person())
    let said = Said(isInteractive: true)
    let item = try stand.items.item(ItemName("secret"))
    stand.rooms.waysIn.prove(item, said, naming)
    stand.rooms.waysIn.proveForGrants(said, other)
    #expect(naming.asked == ["Vault password to use secret"])
    #expect(other.asked == ["Vault password to administer the vault and its grants"])
    stand.vault.lock(because: .asked)
    let refused: [Refusal] = hides ? [.cancelled] : []
    #expect(naming.refused == refused && naming.conversation?.isOver == hides)
    #expect(other.refused.isEmpty && other.conversation?.isOver == false)
  }

  @Test(
    "are in no entry of the log that waits in memory before the first unlock, also where they are hidden later",
    arguments: [false, true])
  func cold(isLater: Bool) throws {
    var settings = VaultSettings()
    settings.hideNames = !isLater
    let stand = try RoomStand.unlocked(settings)
    try stand.restart()
    let audit = stand.vault.audit
    if isLater {
      audit.record(.get, .denied, stand.administrator, item: "asked first")
      #expect(audit.block.count > 0)
      settings.hideNames = true
      stand.rooms.reconfigure(settings)
    }
    #expect(audit.block.count == 0)
    audit.record(.get, .denied, stand.administrator, item: "asked cold")
    #expect(audit.block.count == 0)
    try stand.unlock()
    #expect(try AuditTests.told(stand).contains("get denied asked cold"))
  }

  @Test(
    "are in no entry of the log that waits in memory once the vault is locked, also where they are hidden later",
    arguments: [false, true])
  func entries(isLater: Bool) throws {
    var settings = VaultSettings()
    settings.hideNames = !isLater
    let stand = try RoomStand.unlocked(settings, system: true)
    let audit = stand.vault.audit
    let recordings: [(String) -> Void] = [
      { audit.record(.set, .ok, stand.administrator, item: "asked \($0)") },
      { audit.record(.deposit, .ok, for: .user(990), item: "left \($0)", detail: "") },
      { audit.add(.delete, .ok, item: "gone \($0)") },
    ]
    for record in recordings {
      let count = audit.block.count
      record("unlocked")
      #expect(audit.block.count == count + 1)
    }
    stand.vault.lock(because: .asked)
    if isLater {
      settings.hideNames = true
      stand.rooms.reconfigure(settings)
    }
    #expect(audit.block.count == 0)
    for record in recordings {
      record("locked")
      #expect(audit.block.count == 0)
    }
    #expect(try stand.vault.keychain().hasUnwrittenAudit)
    try stand.unlock()
    let told = try AuditTests.told(stand)
    for entry in ["set ok asked", "deposit ok left", "delete ok gone"] {
      for state in ["unlocked", "locked"] { #expect(told.contains("\(entry) \(state)"), "\(told)") }
    }
  }
}
