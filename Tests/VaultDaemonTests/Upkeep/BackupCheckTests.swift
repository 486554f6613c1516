import Foundation
import Testing
import VaultTesting

/// A backup's statement about the store that it was made from.
@Suite("The check of a backup") struct BackupCheckTests {
  private let password = "correct horse battery"

  /// Makes a vault with more items than an unlock checks before it is answered.
  private func filled(_ config: String = "idle = off") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: config)
    try sandbox.unlock(password)
    for start in stride(from: 0, to: 1500, by: 125) {
      let items = (start..<start + 125).map { ["name": "folder/item \($0)", "value": "value \($0)"] }
      if let error = try sandbox.client().call("SetMany", ["items": items]).error { throw SandboxError(error) }
    }
    return sandbox
  }

  /// Stops the daemon, edits its store, starts it again and unlocks the vault: the check then runs.
  private func reopen(_ sandbox: Sandbox, after edit: String? = nil) throws {
    try sandbox.stopDaemon()
    if let edit { try sandbox.editStore(edit) }
    try sandbox.startDaemon()
    #expect(try sandbox.unlock(password)?.error == nil)
  }

  /// Damages the item that the check reaches last.
  private static let damage =
    "UPDATE heads SET value = zeroblob(length(value)) WHERE id = (SELECT max(id) FROM heads)"

  @Test("a backup that is made while the check of a damaged store goes on counts for nothing")
  func damaged() throws {
    let sandbox = try filled()
    defer { sandbox.close() }
    try reopen(sandbox, after: Self.damage)
    let (_, last) = try sandbox.client().backup()
    #expect(last.error == "Corrupt", "\(last)")
  }

  @Test("a file has its name once what was checked agrees, and there is none where it does not")
  func file() throws {
    let sandbox = try filled()
    defer { sandbox.close() }
    try reopen(sandbox, after: Self.damage)
    let outcome = try sandbox.run("backup", sandbox.root + "/copy")
    #expect(outcome.status == 65, "\(outcome)")
    let names = try FileManager.default.contentsOfDirectory(atPath: sandbox.root)
    #expect(!names.contains { $0.contains("copy") }, "\(names)")
  }

  @Test("so does one for which the damaged item is deleted before the check has met it")
  func deleted() throws {
    let sandbox = try filled()
    defer { sandbox.close() }
    try reopen(sandbox, after: Self.damage)
    let client = try sandbox.client()
    let begun = try client.call("Backup", upgrade: true)
    let deleted = try sandbox.client().call("Delete", ["names": ["folder/item 1499"], "now": true])
    #expect(deleted.error == "Corrupt", "\(deleted)")
    let last = try begun.error == nil ? client.restOfBackup(begun).last : begun
    #expect(last.error == "Corrupt", "\(last)")
  }

  @Test("of a vault that is unlocked all is checked, and of one that is locked what its keys do not reach is named")
  func unchecked() throws {
    for config in ["idle = off", "idle = off\nhide-names = true"] {
      let sandbox = try filled(config)
      defer { sandbox.close() }
      try sandbox.awaitCheck()
      let (bytes, last) = try sandbox.client().backup()
      #expect(last.error == nil && last.parameters["unchecked"] == nil, "\(last)")
      _ = try sandbox.client().call("Lock")
      let (locked, end) = try sandbox.client().backup()
      #expect(end.error == nil && end.parameters["unchecked"] as? [String] == ["the audit log"], "\(end)")
      for copy in [bytes, locked] {
        let other = try Sandbox()
        defer { other.close() }
        try other.startDaemon(config: "idle = off")
        #expect(try other.restore(copy, secret: password).error == nil)
        #expect(try other.unlock(password)?.error == nil)
        try other.awaitCheck()
        #expect(try other.client().call("Get", ["name": "folder/item 7"]).string("value") == "value 7")
      }
    }
  }

  @Test("where the check was not over at the lock, the backup names the class whose keys are gone")
  func cutShort() throws {
    let sandbox = try filled()
    defer { sandbox.close() }
    try reopen(sandbox)
    _ = try sandbox.client().call("Lock")
    let integrity = try sandbox.client().call("Status").parameters["integrity"] as? WireClient.Message
    let (_, last) = try sandbox.client().backup()
    #expect(last.error == nil, "\(last)")
    let unchecked = last.parameters["unchecked"] as? [String] ?? []
    // A fast machine may have checked the items already.
    #expect(unchecked.contains("the audit log"))
    if integrity?["state"] as? String != "ok" { #expect(unchecked.contains("when-unlocked"), "\(last)") }
  }
}
