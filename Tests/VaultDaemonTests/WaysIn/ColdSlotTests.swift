import Foundation
import Testing
import VaultTesting

@Suite(
  "A slot whose key lies outside the daemon",
  .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct ColdSlotTests {
  private func expectOpensCold(_ stand: FingerStand, _ keystore: String, _ config: String = "idle = off") throws {
    let vault = stand.vault
    try vault.make(config)
    let added = try vault.addSlot(keystore, ["insecure": true])
    #expect(added.reply?.integer("slot") == 2, "\(added)")
    try vault.sandbox.stopDaemon()
    try vault.start(config)
    try stand.expectFingerOpens()
  }

  @Test("in a file: opens after a restart, and needs the flag that says what it costs") func file() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    try expectOpensCold(stand, "file")
    let refused = try stand.vault.addSlot("file")
    #expect(refused.reply?.error == "MethodUnavailable")
    #expect(refused.reply?.sentence?.contains("--insecure-file allows it") == true)
    #expect(refused.said == [])
    #expect(try keyFiles(stand).count == 1)
    // Removing the slot also removes its key.
    let removed = try stand.vault.converse("RemoveSlot", ["id": 2], typing: [stand.vault.password])
    #expect(removed.reply?.error == nil)
    try stand.wait("the key to go") { try keyFiles(stand).isEmpty }
  }

  private func keyFiles(_ stand: FingerStand) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: stand.vault.sandbox.store).filter { $0.hasPrefix("presence-") }
  }

  @Test("a vault can be made with one in a file, whose directory is not there yet") func initialized() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    try vault.start()
    let parameters: WireClient.Message = ["keystore": "file", "kdf_memory": 19 << 20, "kdf_passes": 2]
    let refused = try vault.converse("Init", parameters, typing: [vault.password])
    #expect(refused.reply?.error == "MethodUnavailable")
    let made = try vault.converse(
      "Init", parameters.merging(["insecure": true]) { old, _ in old }, typing: [vault.password])
    #expect(made.reply?.error == nil)
    try vault.sandbox.stopDaemon()
    try vault.start()
    try stand.expectFingerOpens()
  }

  @Test("in another keyring: opens after a restart") func keyring() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let session = try PrivateBus(.session, in: stand.vault.sandbox)
    let keyring = try OtherKeyring(in: stand.vault.sandbox, on: session)
    try expectOpensCold(stand, "keyring")
    #expect(try keyring.count() == 1)
    try stand.vault.lock()
    try keyring.lock()
    let talk = try stand.vault.unlock(touching: ["finger-A"], on: stand.reader, typing: [stand.vault.password])
    #expect(talk.mentions("the keyring is locked. Try your vault password."))
    #expect(talk.reply?.error == nil)
  }

  @Test("in the TPM: opens after a restart, and after it was cleared the password does, and is told why")
  func tpm2() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let tpm = try SoftwareTPM(in: vault.sandbox)
    try tpm.open(to: vault.user)
    try expectOpensCold(stand, "tpm2", "idle = off\ntpm2-device = \(tpm.device)")
    try vault.lock()
    try tpm.clear()
    let talk = try vault.unlock(touching: ["finger-A"], on: stand.reader, typing: [vault.password])
    #expect(talk.mentions("the key was sealed by another TPM, or the TPM was cleared"))
    #expect(talk.said.last == "secret Vault password")
    #expect(try vault.state() == "unlocked: by password")
  }

  @Test("nobody but the users it lists opens it, whatever is written into its record") func users() throws {
    let stand = try FingerStand()
    defer { stand.close() }
    let vault = stand.vault
    let (own, other) = (vault.user.uid, vault.user.uid &+ 4711)
    try vault.make()
    #expect(try vault.addSlot("file", ["insecure": true, "users": [Int(other)]]).reply?.integer("slot") == 2)
    let reason = "slot 2 is not for uid \(own)"
    #expect(try vault.obstacle(to: "pam") == reason)
    #expect(try vault.unlock(["method": "pam"]).reply?.sentence == reason)

    try vault.sandbox.stopDaemon()
    let edited = try edit(vault, from: other, to: own)
    try vault.start()
    #expect(try users(vault) == [Int(own)])
    // No fingers were recorded for the other user, so enrolled fingers would make the slot void; without any, it is not
    // void.
    try stand.reader.forget(vault.user.name)
    #expect(try vault.obstacle(to: "pam") == nil)
    let talk = try vault.unlock(typing: [vault.user.password, vault.password])
    #expect(talk.mentions("the key that slot 2's keystore gave does not open it"))
    #expect(try vault.state() == "unlocked: by password")

    // An unlock with the password must not renew the edited record, either.
    try stand.reader.enrol(vault.user.name, print: "finger-A")
    try vault.lock()
    #expect(try vault.unlock(typing: [vault.password]).reply?.error == nil)
    try stand.wait("the slot to be looked at") {
      vault.sandbox.daemonLog.contains("slot 2 was changed by another program and stays unusable; remove it")
    }
    try vault.sandbox.stopDaemon()
    #expect(try record(vault) == edited)
  }

  @Test("of one whose key stays in memory an edited record gets none, and the log says what to do") func memory() throws
  {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    let other = vault.user.uid &+ 4711
    try vault.make()
    #expect(try vault.addSlot("memory", ["users": [Int(other)]]).reply?.integer("slot") == 2)
    try vault.sandbox.stopDaemon()
    _ = try edit(vault, from: other, to: vault.user.uid)
    try vault.start()
    #expect(try vault.unlock(["method": "password"], typing: [vault.password]).reply?.error == nil)
    #expect(
      vault.sandbox.daemonLog.contains("slot 2 was changed by another program and is ignored; remove it"),
      "\(vault.sandbox.daemonLog)")
    #expect(
      try vault.obstacle(to: "pam") == "this is the first unlock since the daemon started; use your vault password")
  }

  private func users(_ vault: UserVault) throws -> [Int] {
    let slots = try vault.client().call("ListSlots").parameters["slots"] as? [WireClient.Message] ?? []
    return slots.first { $0["id"] as? Int == 2 }?["users"] as? [Int] ?? []
  }

  /// Replaces a uid in the record of slot 2, and returns the record.
  private func edit(_ vault: UserVault, from: UInt32, to: UInt32) throws -> String {
    func bytes(_ uid: UInt32) -> String { (0..<4).map { String(format: "%02x", uid >> ($0 * 8) & 0xFF) }.joined() }
    let script = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      record = db.execute('SELECT record FROM slots WHERE id=2').fetchone()[0]
      old, new = bytes.fromhex('\(bytes(from))'), bytes.fromhex('\(bytes(to))')
      assert record.count(old) == 1
      db.execute('UPDATE slots SET record=? WHERE id=2', [record.replace(old, new)])
      db.commit()
      """
    let outcome = try vault.sandbox.run("-c", script, vault.sandbox.store + "/vault.db", program: "/usr/bin/python3")
    try #require(outcome.status == 0, "\(outcome)")
    try vault.giveAway(vault.sandbox.store)
    return try record(vault)
  }

  private func record(_ vault: UserVault) throws -> String {
    let script = """
      import sqlite3, sys
      print(sqlite3.connect(sys.argv[1]).execute('SELECT hex(record) FROM slots WHERE id=2').fetchone()[0])
      """
    let outcome = try vault.sandbox.run("-c", script, vault.sandbox.store + "/vault.db", program: "/usr/bin/python3")
    try #require(outcome.status == 0, "\(outcome)")
    try vault.giveAway(vault.sandbox.store)
    return outcome.output
  }
}
