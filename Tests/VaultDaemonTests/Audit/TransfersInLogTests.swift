import Foundation
import Testing
import VaultTesting

/// Calls that need a socket, or a bus: those whose bytes a thread moves, and JoinBus.
@Suite("A transfer, in the audit log") struct TransfersInLogTests {
  private let password = "correct horse battery"

  /// Makes an unlocked vault with two values of 1 MiB, more than a socket takes at once.
  private func vault(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    do {
      try sandbox.copyVault(config: "idle = off\n\(settings)")
      try sandbox.unlock(password)
      for name in ["a", "b"] {
        let value = String(repeating: name, count: 1 << 20)
        try #require(try sandbox.client().call("Set", ["name": name, "value": value]).error == nil)
      }
    } catch {
      sandbox.close()
      throw error
    }
    return sandbox
  }

  /// Returns the entries with an action: `OUTCOME ITEM: DETAIL`.
  private func told(_ sandbox: Sandbox, _ action: String) throws -> [String] {
    let client = try sandbox.client()
    var told: [String] = []
    var reply = try client.call("Audit", ["action": action], more: true)
    while true {
      try #require(reply.error == nil, "\(reply)")
      for entry in reply.parameters["entries"] as? [WireClient.Message] ?? [] {
        let about = ["item", "detail"].compactMap { entry[$0] as? String }.joined(separator: ": ")
        told.append([entry["outcome"] as? String ?? "", about].filter { !$0.isEmpty }.joined(separator: " "))
      }
      guard reply.continues else { return told }
      reply = try client.reply()
    }
  }

  /// Returns such entries once there are as many as expected, because a call that is cut off ends in a later turn.
  private func told(_ sandbox: Sandbox, _ action: String, count: Int) throws -> [String] {
    var entries: [String] = []
    try wait(for: "\(count) entries") {
      entries = try told(sandbox, action)
      return entries.count >= count
    }
    return entries
  }

  @Test("has one entry if it is whole, and another if its client leaves it") func backup() throws {
    let sandbox = try vault()
    defer { sandbox.close() }
    do {
      let client = try sandbox.client()
      try #require(try client.call("Backup", upgrade: true).error == nil)
      #expect(try client.receive(count: 4) != nil)
    }
    #expect(try told(sandbox, "backup", count: 2) == ["ok", "failed not received completely"])
    #expect(try sandbox.client().backup().last.error == nil)
    #expect(try told(sandbox, "backup") == ["ok", "failed not received completely", "ok"])
  }

  @Test("has its beginning and its result in the log if a backup is checked, whole or cut short") func check() throws {
    let sandbox = try vault()
    defer { sandbox.close() }
    let (bytes, _) = try sandbox.client().backup()
    #expect(try sandbox.restore(bytes, check: true).error == nil)
    let begun = "ok check of a backup: begun"
    #expect(try told(sandbox, "backup", count: 3) == ["ok", begun, "ok check of a backup"])
    let part = Array(bytes[sandbox.headerCount(bytes)...].prefix(1000))
    #expect(try sandbox.restore(bytes, sending: part, check: true).error == "InvalidBackup")
    let entries = try told(sandbox, "backup", count: 5)
    #expect(entries == ["ok", begun, "ok check of a backup", begun, "invalid check of a backup"])
  }

  @Test("that restores a vault is in the log that it brings, and one that was cut short before is not")
  func restore() throws {
    let sandbox = try vault()
    defer { sandbox.close() }
    let (bytes, _) = try sandbox.client().backup()
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    let part = Array(bytes[other.headerCount(bytes)...].prefix(1000))
    #expect(try other.restore(bytes, sending: part).error == "InvalidBackup")
    #expect(try other.restore(bytes).error == nil)
    #expect(try other.unlock(password)?.error == nil)
    let entries = try told(other, "restore")
    #expect(entries.count == 1 && entries[0].hasPrefix("ok a backup of "), "\(entries)")
  }

  @Test("by which the daemon joins a bus names the bus") func joining() throws {
    let sandbox = try vault("secret-service = on")
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox, at: sandbox.root + "/elsewhere")
    let reply = try sandbox.client().call("JoinBus", ["address": bus.address])
    #expect(reply.error == nil, "\(reply)")
    #expect(try told(sandbox, "settings") == ["ok session bus: \(bus.address)"])
  }
}
