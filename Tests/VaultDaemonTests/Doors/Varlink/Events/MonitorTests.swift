import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Monitor") struct MonitorTests {
  private func set(_ client: WireClient, _ name: String, update: Bool = false) throws {
    #expect(try client.call("Set", ["name": name, "value": "v", "update": update]).error == nil)
  }

  private func opened(_ settings: String = "idle = off") throws -> (Sandbox, String) {
    let sandbox = try Sandbox()
    let password = "correct horse battery"
    try sandbox.copyVault(config: settings)
    try sandbox.unlock(password)
    return (sandbox, password)
  }

  @Test("who goes on from a cursor is told what has happened since, also where nobody watched, and then what happens")
  func goesOn() throws {
    let (sandbox, _) = try opened()
    defer { sandbox.close() }
    let client = try sandbox.client()
    let first = try sandbox.client()
    let state = try first.call("Monitor", more: true)
    try set(client, "a")
    let event = try first.reply()
    #expect(event.string("name") == "a" && event.parameters["version"] as? Int == 1)
    for name in ["b", "c"] { try set(client, name) }
    try set(client, "a", update: true)
    let other = try sandbox.client()
    let again = try other.call("Monitor", ["after": event.string("cursor") ?? ""], more: true)
    #expect(again.string("state") == "unlocked" && again.parameters["missed"] == nil)
    // A connection that ends here can continue from the same place.
    #expect(again.string("cursor") == event.string("cursor"))
    try set(client, "d")
    let told = try (0..<4).map { _ in try other.reply() }
    #expect(told.map { $0.string("name") } == ["b", "c", "a", "d"])
    #expect(told.map { $0.parameters["version"] as? Int } == [1, 1, 2, 1])
    #expect(Set(told.compactMap { $0.string("cursor") }).count == 4)
    // A cursor from the first reply also works.
    let whole = try sandbox.client()
    #expect(try whole.call("Monitor", ["after": state.string("cursor") ?? ""], more: true).parameters["missed"] == nil)
    #expect(try (0..<5).map { _ in try whole.reply().string("name") } == ["a", "b", "c", "a", "d"])
  }

  @Test("a cursor of another run of the daemon, or of nobody's, has missed something") func missed() throws {
    let (sandbox, _) = try opened()
    defer { sandbox.close() }
    let watcher = try sandbox.client()
    let cursor = try watcher.call("Monitor", more: true).string("cursor") ?? ""
    for text in ["", "0", "0123456789abcdef", String(repeating: "x", count: 100_000)] {
      let client = try sandbox.client()
      let reply = try client.call("Monitor", ["after": text], more: true)
      #expect(reply.parameters["missed"] as? Bool == true && reply.string("cursor") == cursor, "\(text.prefix(20))")
    }
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    let client = try sandbox.client()
    let reply = try client.call("Monitor", ["after": cursor], more: true)
    #expect(reply.parameters["missed"] as? Bool == true && reply.string("cursor") != cursor)
  }

  @Test("a lock that hides names takes what was kept with it: then something was missed, and no name is told")
  func hidden() throws {
    let (sandbox, _) = try opened("idle = off\nhide-names = true")
    defer { sandbox.close() }
    let client = try sandbox.client()
    let watcher = try sandbox.client()
    let before = try watcher.call("Monitor", more: true).string("cursor") ?? ""
    try set(client, "a")
    let seen = try watcher.reply().string("cursor") ?? ""
    #expect(try client.call("Lock").error == nil)
    let late = try sandbox.client()
    #expect(try late.call("Monitor", ["after": before], more: true).parameters["missed"] as? Bool == true)
    let early = try sandbox.client()
    #expect(try early.call("Monitor", ["after": seen], more: true).parameters["missed"] == nil)
    #expect(try early.reply().string("state") == "locked")
  }

  @Test("a lock that hides names leaves no grant with a watcher, whatever it was still to be told") func grants() throws
  {
    let stand = try ConnectionStand.unlocked("idle = off\nhide-names = true", uid: 4242)
    defer { stand.close() }
    try stand.on { client in
      let (access, caller) = (client.assembly.rooms.access, client.connection.caller)
      #expect(caller.uid == 4242 && !access.isAdministrator(caller))
      try client.give("watch", to: 4242, on: "own/**")
      client.call("Monitor", more: true)
      #expect(client.messages().count == 1)
      // The client still waits for this event when the lock comes, and the lock decides nothing about the client.
      client.vault.hooks.announce(.item(try ItemName("own/a"), .created))
      #expect(caller.memory.standing?.hasGrants == true)
      client.vault.lock(because: .asked)
      #expect(caller.memory.standing == nil && client.isOpen)
    }
    try stand.goRound("the events") { $0.door.events.count == 0 }
    try stand.on { client in
      let told = client.messages()
      #expect(told.count == 1 && told.first?.contains(#""missed":true"#) == true, "\(told)")
      #expect(client.connection.caller.memory.standing == nil)
    }
  }

  @Test(
    "another user, who may watch one item, is told of that alone from a cursor on, moves into and out of it included")
  func othersAfter() throws {
    let stand = try ConnectionStand.unlocked("idle = off", uid: 4242)
    defer { stand.close() }
    try stand.on { client in
      try client.give("watch", to: 4242, on: "own/a")
      let place = client.door.events.recent.newest
      let (own, hidden) = (try ItemName("own/a"), try ItemName("hidden"))
      let events: [VaultEvent] = [
        .item(own, .created, version: 1), .item(hidden, .created, version: 1), .item(own, .moved, to: hidden),
        .item(hidden, .updated, version: 2), .item(try ItemName("own/a/b"), .created, version: 1),
        .item(try ItemName("own/ab"), .created, version: 1), .item(hidden, .moved, to: try ItemName("hidden/too")),
        .request(QuestionNumber(123_456), .asked), .integrityFailed("hidden is not whole"),
        .item(try ItemName("hidden/too"), .moved, to: own), .item(own, .deleted),
      ]
      for event in events { client.vault.hooks.announce(event) }
      client.call("Monitor", #"{"after":"\#(EventCursor.text(place))"}"#, more: true)
      // Events during the watch are decided in the same way.
      for event in events { client.vault.hooks.announce(event) }
    }
    try stand.goRound("the events") { $0.door.events.count == 0 && !$0.hasWork }
    let told = try stand.on { $0.messages() }
    let part = #""name":"own/a","change":"#
    let changes = told.dropFirst().map { text in
      ["created", "deleted", "moved", "updated"].filter { text.contains(part + "\"\($0)\"") }.joined()
    }
    #expect(
      changes == ["created", "deleted", "created", "deleted", "created", "deleted", "created", "deleted"], "\(told)")
    for word in ["hidden", "own/ab", "own/a/b", "123456", "whole", "missed"] {
      #expect(!told.contains { $0.contains(word) }, "\(word): \(told)")
    }
  }
}
