import Foundation
import Testing
import VaultCore
import VaultTesting

@Suite(
  "Presence in the daemon's memory",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct PresenceSecretsTests {
  private func search(_ vault: UserVault) throws -> MemorySearch {
    try MemorySearch(pid: try #require(vault.sandbox.daemonPid))
  }

  /// Returns the key of the `memory` slot with this number.
  private func memoryKey(_ id: UInt32, _ keys: VaultKeys) -> [UInt8] {
    let vaultKey = unsafe SecureBytes(copying: keys.vault.span.bytes)
    return SlotRecord.memoryKey(id: id, vaultKey: vaultKey).withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
  }

  private func fileKey(_ vault: UserVault) throws -> [UInt8] {
    let name = try #require(
      FileManager.default.contentsOfDirectory(atPath: vault.sandbox.store).first { $0.hasPrefix("presence-") })
    return [UInt8](try #require(FileManager.default.contents(atPath: vault.sandbox.store + "/" + name)))
  }

  @Test(
    "after a lock nothing is left but the key of a memory slot, which sleep and age take",
    arguments: ["idle = off", "idle = off\nmaximum-age = 1h"])
  func nothingLeft(config: String) throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let clock = try MachineClock(in: vault.sandbox)
    try vault.make(config)
    _ = try vault.addSlot("file", ["insecure": true])
    _ = try vault.addSlot("memory")
    let keys = try VaultKeys(of: vault.sandbox, password: vault.password)
    let (memoryKey, fileKey) = (memoryKey(3, keys), try fileKey(vault))
    let all = try KeyHierarchy(
      of: vault.sandbox, KeyHierarchy.Secrets(password: vault.password, presence: [2: fileKey]))
    let wrong = ["finger-B", "finger-C", "finger-B"]
    #expect(
      try vault.unlock(touching: wrong, on: stand.reader, typing: [vault.user.password]).reply?.error == nil)
    let set = try vault.client().call("Set", ["name": "a", "value": "b", "require": "biometry"])
    #expect(set.error == nil)
    let shown = try vault.converse(
      "Authenticate", ["name": "a", "interactive": true], touching: ["finger-A"], on: stand.reader)
    #expect(shown.reply?.error == nil)
    try stand.expectFingerOpens()

    // The positive control: the same search finds the keys while they are held.
    let unlocked = try search(vault)
    #expect(unlocked.find(keys.whenUnlockedValues) == ["raw"])
    #expect(unlocked.find(memoryKey) == ["raw"])
    try vault.lock()
    let locked = try search(vault)
    let gone = [
      "vault key": keys.vault, "class key": keys.whenUnlockedClass, "value key": keys.whenUnlockedValues,
      "presence key": fileKey, "login password": Array(vault.user.password.utf8),
      "password": Array(vault.password.utf8),
    ]
    for (name, secret) in gone { #expect(locked.find(secret) == [], "\(name)") }
    #expect(locked.find(memoryKey) == ["raw"])
    #expect(Set(locked.find(all.keys).keys) == Set(Held.locked + ["presence key 3"]))
    if config.contains("maximum-age") {
      try clock.pass(seconds: 3600)
      #expect(try vault.state() == "locked: by `vault lock`")
    } else {
      try stand.expectFingerOpens()
      try stand.sleep()
    }
    let later = try search(vault)
    #expect(later.find(memoryKey) == [])
    #expect(Set(later.find(all.keys).keys) == Set(config.contains("maximum-age") ? Held.locked : Held.asleep))
    for (name, secret) in gone { #expect(later.find(secret) == [], "\(name)") }
  }

  @Test("a lock takes the vault key from what still waits for fprintd") func waiting() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.make()
    _ = try vault.addSlot("memory")
    let keys = try VaultKeys(of: vault.sandbox, password: vault.password)
    #expect(try vault.unlock(["method": "password"], typing: [vault.password]).reply?.error == nil)
    // The daemon wipes the vault key once it has finished with the fingers of this unlock.
    try stand.wait("the vault key to go") { try search(vault).find(keys.vault) == [] }
    try vault.lock()

    stand.reader.pause()
    #expect(try vault.unlock(["method": "password"], typing: [vault.password]).reply?.error == nil)
    #expect(try search(vault).find(keys.vault) == ["raw"])
    try vault.lock()
    #expect(try search(vault).find(keys.vault) == [])

    let adding = try vault.client()
    let prompt = try adding.call("AddSlot", ["kind": "pam", "keystore": "memory"], more: true)
    let conversation = try #require(prompt.string("conversation"))
    let answer = ["conversation": conversation, "answer": vault.password]
    #expect(try vault.client().call("Respond", answer).error == nil)
    try stand.wait("the password to be checked") { try search(vault).find(keys.vault) == ["raw"] }
    try vault.lock()
    #expect(try search(vault).find(keys.vault) == [])
    #expect(try adding.reply().error == "Cancelled")
    stand.reader.resume()
  }
}
