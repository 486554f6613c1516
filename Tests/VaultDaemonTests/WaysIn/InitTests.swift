import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

// Tests of the making of a vault.
extension SlotsTests {
  @Test("a second init is refused and changes no byte") func secondInit() throws {
    try withVault { (sandbox, _) throws in
      let before = try files(sandbox)
      #expect(try sandbox.converse("Init", floor) { _ in "another password" }?.error == "VaultExists")
      #expect(try files(sandbox) == before)
    }
  }

  private func files(_ sandbox: Sandbox) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: sandbox.store) {
      contents[name] = FileManager.default.contents(atPath: sandbox.store + "/" + name)
    }
    return contents
  }

  @Test("an init that is left half way leaves nothing") func halfInit() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try sandbox.converse("Init", floor) { _ in nil } == nil)
    var asked = 0
    let left = try sandbox.converse("Init", floor.merging(["recovery": true]) { old, _ in old }) { prompt in
      asked += 1
      return prompt["style"] as? String == "new-secret" ? password : nil
    }
    #expect(left == nil)
    #expect(asked == 2)
    #expect(try sandbox.client().call("Status").string("state") == "new")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
  }

  @Test("of two inits at once one makes the vault, and its boot key stays") func twoInits() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    var asking: [(client: WireClient, id: String)] = []
    for _ in 0..<2 {
      let client = try sandbox.client()
      let prompt = try client.call("Init", floor, more: true)
      asking.append((client, try #require(prompt.string("conversation"))))
    }
    for one in asking {
      #expect(try sandbox.client().call("Respond", ["conversation": one.id, "answer": password]).error == nil)
    }
    let errors = try asking.map { try $0.client.reply().error }
    // When the second answer comes, the first one is still being derived, or has already made the vault.
    #expect(errors == [nil, "BackingOff"] || errors == [nil, "VaultExists"], "\(errors)")
    try sandbox.unlock(password)
    let set = try sandbox.client().call("Set", ["name": "a", "value": "served cold", "accessible": "always"])
    #expect(set.error == nil)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "served cold")
  }

  @Test("an init that was begun before another one made the vault changes no byte") func lateInit() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    var before: [String: Data] = [:]
    let late = try sandbox.converse("Init", floor) { _ in
      _ = try? sandbox.converse("Init", floor) { _ in password }
      before = (try? files(sandbox)) ?? [:]
      return "another password"
    }
    #expect(late?.error == "VaultExists")
    #expect(before["boot.key"] != nil)
    #expect(try files(sandbox) == before)
  }

  @Test("a short password and a weak Argon2id are refused")
  func weak() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try sandbox.converse("Init", floor) { _ in "1234567" }?.error == "WeakSecret")
    #expect(try sandbox.converse("Init", ["kdf_memory": (19 << 20) - 1024]) { _ in password }?.error == "WeakSecret")
    #expect(try sandbox.converse("Init", ["kdf_passes": 21]) { _ in password }?.error == "WeakSecret")
  }

  @Test("the files are for their owner alone") func modes() throws {
    try withVault { (sandbox, _) throws in
      for name in ["", "/vault.db", "/boot.key"] {
        var status = stat()
        #expect(unsafe stat(sandbox.store + name, &status) == 0)
        #expect(status.st_mode & 0o077 == 0, "\(name)")
      }
    }
  }
}
