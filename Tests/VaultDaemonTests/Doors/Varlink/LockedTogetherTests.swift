import Foundation
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("Calls that a lock ends together") struct LockedTogetherTests {
  @Test("are refused after one write of their entries, where names are hidden and the audit log is required")
  func names() throws {
    let stand = try ConnectionStand.unlocked("hide-names = true\naudit = required")
    defer { stand.close() }
    try stand.on { client in
      let own = client.connection.caller
      let agent = try client.another()
      agent.call("Attend", #"{"faces":["terminal"]}"#, more: true)
      client.door.access.add(.presence, by: own, with: [])
      client.call("Set", #"{"name":"b","value":"v","require":"password"}"#)
      client.door.access.add(.presence, by: own, with: [])
      _ = client.messages()
      let others = Others(try (0..<8).map { _ in try client.another() } + [agent])
      client.kept = others
      for other in others.all.dropLast() { other.call("Get", #"{"name":"b","wait_ms":60000}"#) }
      #expect(others.all.allSatisfy { $0.connection.current.onCancel != nil })
      client.vault.audit.follow(ObjectIdentifier(others)) { others.writes += 1 }
      client.call("Lock")
    }
    try stand.goRound("the answers") { client in
      guard let others = client.kept as? Others else { return false }
      others.answers += others.all.dropLast().flatMap { $0.messages() }
      return others.answers.count == 8
    }
    try stand.on { client in
      let others = try #require(client.kept as? Others)
      #expect(others.answers.allSatisfy { $0.contains("Locked") }, "\(others.answers)")
      // One write before the keys go, one for the entry of the lock, and one for the entries of all calls.
      #expect(others.writes <= 3)
      for other in others.all { other.leave() }
      client.kept = nil
      try client.unlock()
      client.call("Audit", more: true)
      let entries = client.messages().joined()
      #expect(entries.components(separatedBy: #""outcome":"locked""#).count == 9, "\(entries)")
    }
  }

  @Test("are refused as locked, whatever still comes of them before the lock is done") func rest() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      let later = Later()
      client.vault.hooks.afterwards = { later.works.append($0) }
      let get = #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"a"}}"# + "\0"
      // More calls than are handled at once wait, and the beginning of one.
      let calls = String(repeating: get, count: 2 * VarlinkConnection.slice) + get.prefix(20)
      client.send(#"{"method":"io.vaultd.Vault.Lock"}"# + "\0" + calls)
      #expect(client.connection.input.isScheduled && !later.works.isEmpty)
      // The rest of it and the turn for which the connection waits come first.
      client.send(String(get.dropFirst(20)))
      client.connection.goOn(isTurn: true)
      for work in later.works { work() }
      let told = client.messages()
      #expect(
        told.count == VarlinkConnection.slice + 1 && told.dropFirst().allSatisfy { $0.contains("Locked") }, "\(told)")
    }
  }

  /// The work that is to be done once a lock is done.
  private final class Later {
    var works: [() -> Void] = []
  }

  private final class Others {
    let all: [ConnectionStand.Inside]
    var answers: [String] = []
    var writes = 0

    init(_ all: [ConnectionStand.Inside]) { self.all = all }
  }
}
