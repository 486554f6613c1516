import CLinux
import Foundation
import Testing
import VaultTesting

/// The slots that a rekey carries over, and their keys in keystores.
extension RekeyTests {
  func presenceKeys(_ sandbox: Sandbox) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: sandbox.store).filter { $0.hasPrefix("presence-") }.sorted()
  }

  /// Waits for the work of a keystore: it happens after the reply, so only its result shows.
  func waitUntil(_ condition: () throws -> Bool) throws {
    let limit = Date().addingTimeInterval(60)
    while try !condition(), Date() < limit { usleep(1000) }
    #expect(try condition())
  }

  @Test("a slot whose key lies in a keystore gets another key there, and the old one goes at the end")
  func keystores() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 5)
      for keystore in ["file", "memory"] {
        let slot = try sandbox.converse("AddSlot", ["kind": "pam", "keystore": keystore, "insecure": true]) { _ in
          password
        }
        #expect(slot?.error == nil, "\(String(describing: slot))")
      }
      let before = try presenceKeys(sandbox)
      let begun = try begin(sandbox) { _ in password }
      #expect(begun.first.parameters["slots"] as? [Int] == [1, 2, 3])
      #expect(try begun.last().error == nil)
      #expect(try kinds(sandbox) == [1: "password", 2: "pam", 3: "pam"])
      try waitUntil { try presenceKeys(sandbox).count == 1 }
      #expect(try presenceKeys(sandbox) != before)
    }
  }

  @Test("a rekey that is left after it put a key into a keystore takes it out again")
  func leftWithKey() throws {
    try withVault { sandbox, _ throws in
      for parameters: WireClient.Message in [
        ["kind": "pam", "keystore": "file", "insecure": true], ["kind": "recovery"],
      ] {
        let added = try sandbox.converse("AddSlot", parameters) { $0["code"] as? String ?? password }
        #expect(added?.error == nil, "\(String(describing: added))")
      }
      let before = try presenceKeys(sandbox)
      let client = try sandbox.client()
      let id = try #require(try client.call("Rekey", more: true).string("conversation"))
      #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": password]).error == nil)
      while try client.reply().prompt?["code"] == nil {}
      #expect(try presenceKeys(sandbox).count == 2)
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try client.reply().error == "Cancelled")
      try waitUntil { try presenceKeys(sandbox) == before }
    }
  }

  @Test("who was asked for a password before a rekey began hears of it then, and is asked nothing more")
  func askedBefore() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 3000)
      let asked = try sandbox.client()
      let prompt = try asked.call("AddSlot", floor.merging(["kind": "password"]) { $1 }, more: true)
      let id = try #require(prompt.string("conversation"))
      let begun = try begin(sandbox) { _ in password }
      // A lock pauses the rekey, so that it is still running during this test.
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try begun.last().error == "Locked")
      #expect(try sandbox.client().call("Respond", ["conversation": id, "answer": password]).error == nil)
      #expect(try asked.reply().error == "Rekeying")
    }
  }

  @Test("another password is kept by typing it, and left out otherwise")
  func otherPasswords() throws {
    try withVault(onClock: true) { sandbox, _ throws in
      for number in 2...4 {
        let added = try sandbox.converse("AddSlot", floor.merging(["kind": "password"]) { $1 }) { prompt in
          prompt["style"] as? String == "secret" ? password : "password number \(number)"
        }
        #expect(added?.error == nil)
      }
      var tries = 0
      let begun = try begin(sandbox) { text in
        if text.contains("slot 2") { return "password number 2" }
        if text.contains("slot 3") { return "" }
        if text.contains("slot 4") {
          tries += 1
          return "wrong"
        }
        return password
      }
      #expect(tries == 3)
      #expect(begun.first.parameters["slots"] as? [Int] == [1, 2])
      #expect(begun.first.parameters["left_out"] as? [Int] == [3, 4])
      // Each wrong answer counts as a failed attempt, and the next question waits accordingly.
      let waits = (1...2).map { "an answer was wrong; the next question comes in \($0) s" }
      #expect(begun.told.filter { $0.hasPrefix("an answer was wrong") } == waits)
      #expect(begun.told.filter { $0.contains("is left out") }.count == 2)
      #expect(try begun.last().error == nil)
      _ = try sandbox.client().call("Lock")
      let early = try sandbox.unlock("password number 2")
      #expect(early?.error == "BackingOff")
      try sandbox.waitOut("password")
      #expect(try sandbox.unlock("password number 2")?.error == nil)
      _ = try sandbox.client().call("Lock")
      #expect(try sandbox.unlock("password number 3")?.error == "AuthenticationFailed")
      #expect(try kinds(sandbox) == [1: "password", 2: "password"])
    }
  }

  @Test("the last password cannot be left out, and its question says so", arguments: ["", "wrong"])
  func lastPassword(typed: String) throws {
    try withVault { sandbox, _ throws in
      for kind in ["login", "pam"] {
        let parameters = floor.merging(["kind": kind, "keystore": "file", "insecure": true]) { $1 }
        let added = try sandbox.converse("AddSlot", parameters) {
          $0["style"] as? String == "secret" ? password : "the login password"
        }
        #expect(added?.error == nil)
      }
      let keys = try presenceKeys(sandbox)
      var asked: [String] = []
      let begun = try begin(sandbox, ["method": "login"]) { text in
        asked.append(text)
        return text.hasPrefix("Login") ? "the login password" : typed
      }
      #expect(begun.first.error == "LastSlot")
      #expect(asked.count == (typed.isEmpty ? 2 : 4))
      #expect(
        asked[1] == "Vault password of slot 1, to keep it (no other password or recovery code would open the vault)")
      #expect(try kinds(sandbox) == [1: "password", 2: "login", 3: "pam"])
      #expect(try sandbox.client().call("Status").parameters["rekey"] == nil)
      try waitUntil { try presenceKeys(sandbox) == keys }
    }
  }

  @Test("a stale login slot is not tried and does not come along", arguments: [false, true])
  func stale(isMarkedLate: Bool) throws {
    try withVault { sandbox, _ throws in
      let added = try sandbox.converse("AddSlot", floor.merging(["kind": "login"]) { $1 }) {
        $0["style"] as? String == "secret" ? password : "the login password"
      }
      #expect(added?.error == nil)
      func mark() throws { #expect(try sandbox.client().call("MarkStale").error == nil) }
      if !isMarkedLate { try mark() }
      var asked = 0
      let begun = try begin(sandbox) { text in
        asked += 1
        guard text.contains("slot 2") else { return password }
        try? mark()
        return "the login password"
      }
      #expect(asked == (isMarkedLate ? 2 : 1))
      #expect(begun.first.parameters["left_out"] as? [Int] == [2])
      #expect(begun.told == ["slot 2 is left out: the login password was changed without the vault"])
      #expect(try begun.last().error == nil)
      #expect(try kinds(sandbox) == [1: "password"])
    }
  }

  @Test("keys beside the store that no slot names go once the store was checked, and nothing else does")
  func unnamedKeys() throws {
    try withVault { sandbox, _ throws in
      let slot = try sandbox.converse("AddSlot", ["kind": "pam", "keystore": "file", "insecure": true]) { _ in
        password
      }
      #expect(slot?.error == nil)
      let named = try presenceKeys(sandbox)
      try sandbox.stopDaemon()
      let key = Data(repeating: 1, count: 32)
      let manager = FileManager.default
      func make(_ name: String) { #expect(manager.createFile(atPath: sandbox.store + "/" + name, contents: key)) }
      let ours = ["presence-00112233445566ff.key", "presence-8899aabbccddeeff.key.new"]
      let others = [
        "presence-00112233445566.key", "presence-00112233445566FF.key", "presence-00112233445566ff.key.old",
        "presence-00112233445566fff.key", "presence-key",
      ]
      (ours + others).forEach(make)
      let folder = sandbox.store + "/presence-1111111111111111.key"
      try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)
      try manager.createSymbolicLink(
        atPath: sandbox.store + "/presence-2222222222222222.key", withDestinationPath: "vault.db")
      let kept = (named + others + ["presence-1111111111111111.key", "presence-2222222222222222.key"]).sorted()
      let all = (kept + ours).sorted()

      // If somebody removed slots from the store, their keys stay.
      let rows = try sandbox.copyRows("slots", where: "id = 2")
      try sandbox.editStore("DELETE FROM slots WHERE id = 2")
      try sandbox.startDaemon()
      _ = try sandbox.unlock(password, ["method": "password"])
      #expect(try sandbox.client().call("Verify", more: true).error == nil)
      #expect(try kinds(sandbox) == [1: "password"])
      try sandbox.stopDaemon()
      #expect(try presenceKeys(sandbox) == all)

      try sandbox.editStore(rows[0])
      try sandbox.startDaemon()
      #expect(try sandbox.client().call("Status").error == nil)
      #expect(try presenceKeys(sandbox) == all)
      #expect(try sandbox.unlock(password, ["method": "password"])?.error == nil)
      try waitUntil { try presenceKeys(sandbox) == kept }
    }
  }

  @Test("the keys of a rekey's slots stay while it rests, and those before go when it was cut off at its end")
  func keysOfResumed() throws {
    try withVault { sandbox, _ throws in
      try fill(sandbox, 3000)
      let slot = try sandbox.converse("AddSlot", ["kind": "pam", "keystore": "file", "insecure": true]) { _ in
        password
      }
      #expect(slot?.error == nil)
      let before = try presenceKeys(sandbox)
      _ = try begin(sandbox) { _ in password }
      #expect(try sandbox.stopDaemon(signal: 9) != 0)
      let both = try presenceKeys(sandbox)
      #expect(both.count == 2 && both.contains(before[0]))
      try sandbox.startDaemon()
      #expect(try sandbox.unlock(password, ["method": "password"])?.error == nil)
      try waitForEnd(sandbox)
      try waitUntil { try presenceKeys(sandbox).count == 1 }
      let after = try presenceKeys(sandbox)
      #expect(after != before)
      // A kill after the new store took its place and before the old key was removed leaves these files.
      try sandbox.stopDaemon()
      #expect(
        FileManager.default.createFile(
          atPath: sandbox.store + "/" + before[0], contents: Data(repeating: 1, count: 32)))
      try sandbox.startDaemon()
      #expect(try sandbox.unlock(password, ["method": "password"])?.error == nil)
      try waitUntil { try presenceKeys(sandbox) == after }
    }
  }
}
