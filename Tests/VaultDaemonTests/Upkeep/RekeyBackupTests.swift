import Foundation
import Testing
import VaultTesting

// A rekey during a backup.
extension RekeyTests {
  @Test("one that is begun while a backup is read waits with its end for that, both are whole, and no slot is made")
  func duringBackup() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 30)
      // Values larger than a socket's buffer.
      let large = String(repeating: "v", count: 1 << 20)
      for name in ["large", "larger"] {
        #expect(try sandbox.client().call("Set", ["name": name, "value": large]).error == nil)
      }
      // This client is about to add a slot to the store that the rekey will replace.
      let adding = try sandbox.client()
      let asked = try adding.call("AddSlot", floor.merging(["kind": "password"]) { old, _ in old }, more: true)
      let id = try #require(asked.string("conversation"))
      #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": password]).error == nil)
      #expect(try adding.reply().prompt?["style"] as? String == "new-secret")

      let reader = try sandbox.client()
      let size = try #require(try reader.call("Backup", upgrade: true).integer("size"))
      let begun = try begin(sandbox) { _ in password }
      let late = try sandbox.client().call("Respond", ["conversation": id, "answer": "another password"])
      #expect(late.error == "NoSuchConversation")
      #expect(try adding.reply().error == "Cancelled")
      func progress() throws -> WireClient.Message? {
        try sandbox.client().call("Status").parameters["rekey"] as? WireClient.Message
      }
      while try progress()?["done"] as? Int != 32 {}
      // Everything is copied; only the backup delays the rekey, whose turns come with each of these calls.
      for _ in 0..<300 { #expect(try progress()?["of"] as? Int == 32) }
      #expect(try sandbox.client().call("Backup", upgrade: true).error == "Rekeying")

      var backup: [UInt8] = []
      while let length = try reader.receive(count: 4), length != [0, 0, 0, 0] {
        backup += try #require(try reader.receive(count: length.reversed().reduce(0) { $0 << 8 | Int($1) }))
      }
      #expect(try reader.reply().error == nil)
      #expect(backup.count == size)
      #expect(try begun.last().error == nil)
      try waitForRest(sandbox)
      #expect(try value(sandbox, "larger") == large)
      try expectRestored(backup, large)
    }
  }

  private func expectRestored(_ backup: [UInt8], _ large: String) throws {
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    #expect(try other.restore(backup, secret: password).error == nil)
    #expect(try other.unlock(password)?.error == nil)
    #expect(try value(other, "large") == large)
    #expect(try other.client().call("Status").integer("items") == 32)
  }
}
