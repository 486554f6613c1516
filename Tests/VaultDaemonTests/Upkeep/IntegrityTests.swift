import Foundation
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService
@testable import VaultStore
@testable import VaultWire

@Suite("The check of all records") struct IntegrityTests {
  let password = "correct horse battery"

  /// Makes a vault with items 1 to 3: `folder/a` and `folder/b` with two versions each, and `c` of class `always`. Its
  /// daemon was stopped. Slot 2 is a recovery code.
  func stopped(config: String = "idle = off") throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: password, config: config, recovery: true)
    try sandbox.unlock(password)
    let client = try sandbox.client()
    for version in 1...2 {
      for name in ["folder/a", "folder/b"] {
        let set = try client.call("Set", ["name": name, "value": "\(name) \(version)", "update": true])
        #expect(set.error == nil)
      }
    }
    #expect(try client.call("Set", ["name": "c", "value": "c 1", "accessible": "always"]).error == nil)
    try sandbox.stopDaemon()
    return sandbox
  }

  func integrity(_ sandbox: Sandbox) throws -> WireClient.Message {
    try sandbox.client().call("Status").parameters["integrity"] as? WireClient.Message ?? [:]
  }

  func state(_ sandbox: Sandbox) throws -> String? { try integrity(sandbox)["state"] as? String }

  /// The replies of `Verify`, combined.
  struct Result {
    var progress = 0
    var findings: [WireClient.Message] = []
    var result: WireClient.Message = [:]

    var kinds: Set<String> { Set(findings.compactMap { $0["kind"] as? String }) }
    var names: Set<String> { Set(findings.compactMap { $0["name"] as? String }) }
    var texts: [String] { findings.compactMap { $0["text"] as? String } }
    func integer(_ key: String) -> Int? { result[key] as? Int }
    func strings(_ key: String) -> [String] { result[key] as? [String] ?? [] }
  }

  @Test("a lock that hides names takes them out of a result that is still being told, and no other does")
  func hidingLock() throws {
    for hides in [true, false] {
      let stand = try ConnectionStand.unlocked("hide-names = \(hides)")
      defer { stand.close() }
      let findings = try stand.on { client in
        let findings = try (1...3).map { (item: Int64) throws in
          Finding(.damaged, item: item, name: try ItemName("name \(item)"), "version 1 of item \(item)")
        }
        let report = Report(findings, to: client.connection, in: client.vault.holders) { _ in
          Wire.Empty()
        } last: {
          Wire.Empty()
        }
        for _ in 0..<2 { client.vault.lock(because: .asked) }
        return Array(report.findings)
      }
      let names = ["name 1", "name 2", "name 3"]
      #expect(findings.map { $0.name?.text } == (hides ? [nil, nil, nil] : names))
      #expect(findings.map(\.item) == [1, 2, 3] && findings.map(\.text).last == "version 1 of item 3")
    }
  }

  @Test("when the check cannot go on, those who wait for it and the status are told") func givenUp() throws {
    let stand = try ConnectionStand.unlocked("idle = off")
    defer { stand.close() }
    try stand.on { client in
      client.call("Verify", more: true)
      let keychain = try client.vault.keychain()
      // The renamed table simulates a failing disk.
      try keychain.database.connection.execute("ALTER TABLE heads RENAME TO gone")
    }
    try stand.goRound("the error") { client in
      client.messages().contains { $0.contains("io.vaultd.Vault.StorageFailed") }
    }
    let warnings = try stand.on { $0.assembly.rooms.upkeep.status().warnings }
    #expect(warnings.contains { $0.text.hasPrefix("the store could not be checked: ") }, "\(warnings)")
  }

  func verify(_ sandbox: Sandbox) throws -> Result {
    let client = try sandbox.client()
    return try result(client.call("Verify", more: true), from: client)
  }

  func result(_ first: WireClient.Reply, from client: WireClient) throws -> Result {
    var result = Result()
    var reply = first
    while true {
      try #require(reply.error == nil, "\(reply)")
      if reply.parameters["progress"] != nil { result.progress += 1 }
      result.findings += reply.parameters["findings"] as? [WireClient.Message] ?? []
      guard reply.continues else { break }
      reply = try client.reply()
    }
    result.result = try #require(reply.parameters["result"] as? WireClient.Message)
    return result
  }

  // MARK: In the background

  @Test("the first unlock has all records checked, and the status says what is known") func unlock() throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try state(sandbox) == "unchecked")
    try sandbox.unlock(password)
    #expect(try state(sandbox) == "ok")
    #expect(try sandbox.client().call("Get", ["name": "d"]).parameters["unverified"] == nil)
    #expect(try sandbox.client().call("Set", ["name": "d", "value": "1"]).error == nil)
    #expect(try sandbox.client().call("Lock").error == nil)
    #expect(try state(sandbox) == "ok")
  }

  @Test("what fails is told, nothing is written any more, and what authenticates is served on") func failed() throws {
    let sandbox = try stopped()
    defer { sandbox.close() }
    try sandbox.editStore("UPDATE heads SET value = zeroblob(length(value)) WHERE id = 1")
    try sandbox.startDaemon()
    let watching = try sandbox.client()
    #expect(try watching.call("Monitor", more: true).string("state") == "cold")
    try sandbox.unlock(password)
    #expect(try watching.reply().string("state") == "unlocked")
    let event = try watching.reply()
    #expect(event.string("event") == "integrity" && event.string("state") == "failed")
    #expect(event.string("cause") == "the check of the store found 1 thing wrong")
    #expect(try state(sandbox) == "failed")
    let client = try sandbox.client()
    for call in [
      try client.call("Set", ["name": "d", "value": "1"]), try client.call("Delete", ["names": ["c"]]),
      try client.call("Move", ["from": "c", "to": "d"]),
      try client.call("SetMany", ["items": [["name": "d", "value": "1"]]]),
    ] {
      #expect(call.error == "Corrupt")
      #expect(call.sentence?.contains("`vault verify`") == true)
    }
    #expect(try client.call("Get", ["name": "folder/b"]).string("value") == "folder/b 2")
    #expect(try client.call("Get", ["name": "folder/a"]).error == "Corrupt")
    #expect(try client.call("Get", ["name": "folder/a", "version": 1]).string("value") == "folder/a 1")
    let missing = try client.call("Get", ["name": "d"])
    #expect(missing.error == "NoSuchItem" && missing.parameters["unverified"] as? Bool == true)
    #expect(sandbox.daemonLog.contains("damaged: version 2 of item 1 is not the one its head names"))
    #expect(!sandbox.daemonLog.contains("folder"))
  }

  @Test("a large store is checked while it is served, and a lock stops the check until the next unlock")
  func large() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    for first in stride(from: 0, to: 3000, by: 125) {
      let items = (first..<first + 125).map {
        ["name": "folder/item \($0)", "value": "\($0)", "attributes": ["n": "\($0)"]]
      }
      #expect(try sandbox.client().call("SetMany", ["items": items]).error == nil)
    }
    var wasStopped = false
    // A check that ends before the lock, which is unlikely, proves nothing.
    for _ in 0..<10 where !wasStopped {
      try sandbox.stopDaemon()
      try sandbox.startDaemon()
      let client = try sandbox.client()
      try sandbox.unlock(password)
      #expect(try client.call("Lock").error == nil)
      let first = try integrity(sandbox)
      guard first["state"] as? String == "checking" else { continue }
      wasStopped = true
      let done = try #require(first["done"] as? Int)
      // After a lock, the pages that were being read are read again.
      #expect(done == 0 || done >= 128)
      #expect(first["of"] as? Int ?? 0 > 9000)
      #expect(try integrity(sandbox)["done"] as? Int == done)
      try sandbox.unlock(password)
      let missing = try client.call("Get", ["name": "none"])
      #expect(missing.error == "NoSuchItem")
      repeat {
        #expect(try client.call("Get", ["name": "folder/item 2999"]).string("value") == "2999")
        #expect(try client.call("Set", ["name": "new", "value": "x", "update": true]).error == nil)
      } while try state(sandbox) == "checking"
      #expect(try state(sandbox) == "ok")
    }
    #expect(wasStopped)
    let result = try verify(sandbox)
    #expect(result.findings.isEmpty && result.progress > 0)
    #expect(result.integer("unharmed") == 3001)
    #expect(result.integer("records") ?? 0 > 9000)
  }

  @Test("each state of a check has its words") func states() {
    #expect(Wire.Integrity(.unchecked) == Wire.Integrity(state: "unchecked"))
    #expect(Wire.Integrity(.checking(done: 1, of: 2)) == Wire.Integrity(state: "checking", done: 1, of: 2))
    #expect(Wire.Integrity(.ok) == Wire.Integrity(state: "ok"))
    #expect(Wire.Integrity(.failed) == Wire.Integrity(state: "failed"))
  }
}
