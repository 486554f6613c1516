import CLinux
import Foundation
import Testing
import VaultTesting

/// Slots that no longer count: stale login slots, and old records that are put back.
extension SlotsTests {
  @Test("a login slot that is said to be stale is not tried until it is replaced, over a restart as well")
  func staleLoginSlot() throws {
    try withVault { (sandbox, _) throws in
      #expect(try sandbox.client().call("MarkStale").error == "MethodUnavailable")
      #expect(try sandbox.converse("ChangePassword", ["kind": "login"]) { _ in password }?.error == "MethodUnavailable")
      #expect(
        try sandbox.converse("ChangePassword", ["kind": "pam"]) { _ in password }?.error
          == "org.varlink.service.InvalidParameter")
      func setLogin(_ method: String, _ parameters: WireClient.Message, to login: String) throws -> String? {
        try sandbox.converse(method, floor.merging(parameters) { old, _ in old }) {
          $0["style"] as? String == "secret" ? password : login
        }?.error
      }
      #expect(try setLogin("AddSlot", ["kind": "login"], to: "first") == nil)
      #expect(try sandbox.unlock("first", ["method": "login"])?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try sandbox.client().call("MarkStale").error == nil)
      #expect(try slots(sandbox).map { $0["stale"] as? Bool } == [nil, true])
      try sandbox.stopDaemon()
      try sandbox.startDaemon()
      for _ in 0..<2 {
        // The password is not even asked for, so no wrong attempt counts against its owner.
        let reply = try sandbox.converse("Unlock", ["method": "login"]) { _ in "first" }
        #expect(reply?.error == "MethodUnavailable")
      }
      #expect(try setLogin("ChangePassword", ["kind": "login"], to: "second") == nil)
      #expect(try slots(sandbox).map { $0["stale"] as? Bool } == [nil, nil])
      #expect(try sandbox.unlock("second", ["method": "login"])?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      // The vault's own password is unchanged, and a login password may not replace it.
      #expect(try sandbox.unlock(password)?.error == nil)
      let parameters: WireClient.Message = ["method": "login", "kind": "password"]
      #expect(try sandbox.converse("ChangePassword", parameters) { _ in "second" }?.error == "MethodUnavailable")
    }
  }

  @Test("of several login slots those that are stale are not tried, nor is one that became so while it was asked for")
  func staleOfSeveral() throws {
    try withVault(onClock: true) { (sandbox, _) throws in
      func setLogin(_ method: String, to login: String) throws {
        let reply = try sandbox.converse(method, floor.merging(["kind": "login"]) { old, _ in old }) {
          $0["style"] as? String == "secret" ? password : login
        }
        #expect(reply?.error == nil)
      }
      try setLogin("AddSlot", to: "first")
      try setLogin("AddSlot", to: "second")
      #expect(try sandbox.client().call("MarkStale").error == nil)
      try setLogin("ChangePassword", to: "first anew")
      #expect(try slots(sandbox).map { $0["stale"] as? Bool } == [nil, nil, true])
      #expect(try sandbox.unlock("second", ["method": "login"])?.error == "AuthenticationFailed")
      try sandbox.waitOut("login")
      #expect(try sandbox.unlock("first anew", ["method": "login"])?.error == nil)
      #expect(try sandbox.client().call("Lock").error == nil)
      // The slot is marked stale between the prompt and the answer, so the answer is no attempt.
      for _ in 0..<2 {
        let reply = try sandbox.converse("Unlock", ["method": "login"]) { _ in
          _ = try? sandbox.client().call("MarkStale")
          return "first anew"
        }
        #expect(reply?.error == "MethodUnavailable")
      }
      #expect(try sandbox.client().call("Status").string("state") != "unlocked")
    }
  }

  /// The ways in which a slot's old record is no longer stored.
  enum Past: CaseIterable { case removed, replaced, removedWithKeys }

  @Test(
    "a slot that was removed or replaced and is put back into the store proves nothing, however it is asked",
    arguments: Past.allCases)
  func revived(_ past: Past) throws {
    try withVault(onClock: true) { sandbox, _ throws in
      let old = "an old password of slot 2"
      let added = try sandbox.converse("AddSlot", floor.merging(["kind": "password"]) { $1 }) {
        $0["style"] as? String == "secret" ? password : old
      }
      #expect(added?.integer("slot") == 2)
      try sandbox.unlock(old)
      let item: WireClient.Message = ["name": "a", "value": "x", "require": "password"]
      #expect(try sandbox.client().call("Set", item).error == nil)
      try sandbox.stopDaemon()
      var rows = try sandbox.copyRows("slots", where: "id = 2")
      if past == .removedWithKeys { rows += try sandbox.copyRows("keys", where: "1") }
      try sandbox.startDaemon()
      switch past {
      case .removed, .removedWithKeys:
        #expect(try sandbox.converse("RemoveSlot", ["id": 2]) { _ in password }?.error == nil)
      case .replaced:
        let changed = try sandbox.converse("ChangePassword", floor) {
          $0["style"] as? String == "new-secret" ? "a new password of slot 2" : old
        }
        #expect(changed?.error == nil)
      }
      try sandbox.stopDaemon()
      for row in rows { try sandbox.editStore(row) }
      try sandbox.startDaemon()
      // The slot's record is in the store, and its password fits.
      #expect(try slots(sandbox).contains { $0["id"] as? Int == 2 })
      for (method, parameters) in [
        ("Unlock", [:]), ("Unlock", ["for": 60]), ("ChangePassword", floor), ("AddSlot", ["kind": "recovery"]),
        ("RemoveSlot", ["id": 1]),
      ] as [(String, WireClient.Message)] {
        let refused = try sandbox.converse(method, parameters) { _ in old }
        #expect(refused?.error == "Corrupt", "\(method): \(String(describing: refused))")
        try sandbox.waitOut("password")
      }
      #expect(try sandbox.client().call("Status").string("state") == "cold")
      #expect(try slots(sandbox).contains { $0["id"] as? Int == 1 })

      // The old slot proves neither presence nor the right to a rekey while the vault is unlocked. The unlock is made
      // in another session, so that it is no proof for this one.
      #expect(try sandbox.run("unlock", "--password-stdin", stdin: password + "\n").status == 0)
      let client = try sandbox.client()
      var asked = try client.call("Authenticate", ["name": "a", "interactive": true], more: true)
      while asked.error == nil, let conversation = asked.string("conversation") {
        if asked.prompt?["style"] as? String == "secret" {
          #expect(
            try sandbox.client().call("Respond", ["conversation": conversation, "answer": old]).error == nil)
        }
        asked = try client.reply()
      }
      #expect(asked.error == "Corrupt", "\(asked)")
      #expect(try sandbox.converse("Rekey") { _ in old }?.error == "Corrupt")
    }
  }
}
