import NIOCore
import Testing
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@Suite("A get that waited for the unlock") struct HeldGetTests {
  @Test("waits for room as well where its value is large, and leaves that place with its client") func room() throws {
    for leaves in [false, true] {
      let stand = try ConnectionStand.unlocked("")
      defer { stand.close() }
      let held = try stand.on { client in
        try Self.storeLarge(client)
        client.vault.lock(because: .asked)
        client.call("Get", #"{"name":"large","wait_ms":60000}"#)
        let held = Self.fillRoom(client)
        try client.unlock()
        return held
      }
      try stand.goRound("the unlock to be noticed") { $0.vault.waiting.isEmpty(.unlock) }
      #expect(try stand.on { $0.messages() } == [])
      try stand.on { client in
        if leaves { client.connection.close() }
        for number in held { client.door.plaintext.release(number) }
      }
      if leaves {
        #expect(try stand.on { $0.door.plaintext.inHand } == 0)
      } else {
        try stand.goRound("the value") { $0.messages().contains { $0.hasPrefix(#"{"parameters":{"name":"large""#) } }
      }
    }
  }

  private static func storeLarge(_ client: ConnectionStand.Inside) throws {
    let value = ConnectionStand.secret([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20))
    try client.vault.keychain().set(ItemChange(name: ItemName("large")), value: value, now: 1)
  }

  /// Makes other clients take all the room for large values; returns the numbers of their replies.
  private static func fillRoom(_ client: ConnectionStand.Inside) -> [Int] {
    (1...2).compactMap {
      client.door.plaintext.hold(
        2 << 20, for: Plaintext.Client(process: $0, line: client.connection.share.works), taken: { 0 }, drop: {})
    }
  }

  @Test("waits for its turn among the works where others wait, if its value is large") func turn() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let early = try stand.on { client in
      try Self.storeLarge(client)
      try client.vault.keychain().set(
        ItemChange(name: ItemName("token")), value: ConnectionStand.secret(Array("t".utf8)), now: 1)
      client.door.turns.wait(client.connection.share.works) {}
      client.call("Get", #"{"name":"token"}"#)
      client.call("Get", #"{"name":"large"}"#)
      return client.messages()
    }
    #expect(early.count == 1 && early.first?.contains("token") == true, "\(early)")
    try stand.goRound("the large value") { $0.messages().contains { $0.hasPrefix(#"{"parameters":{"name":"large""#) } }
  }

  @Test("waits no longer than it said, also where it waited for room meanwhile") func deadline() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      try Self.storeLarge(client)
      _ = Self.fillRoom(client)
      client.vault.lock(because: .asked)
      client.call("Get", #"{"name":"large","wait_ms":3000}"#)
      try client.unlock()
    }
    try stand.goRound("the unlock to be noticed") { $0.vault.waiting.isEmpty(.unlock) }
    try stand.on { $0.vault.lock(because: .asked) }
    try stand.on { $0.pass(.seconds(4)) }
    try stand.goRound("the end of its time") { client in
      client.pass(.seconds(1))
      return client.messages().contains { $0.contains("TimedOut") }
    }
  }

  @Test("one that waits for room is refused by a lock that hides names, which it has") func hidden() throws {
    let stand = try ConnectionStand.unlocked("hide-names = true")
    defer { stand.close() }
    let early = try stand.on { client in
      try Self.storeLarge(client)
      _ = Self.fillRoom(client)
      client.call("Get", #"{"name":"large","wait_ms":60000}"#)
      let early = client.messages()
      client.vault.lock(because: .asked)
      return early
    }
    let told = try stand.received("the refusal")
    #expect(early == [] && told.count == 1 && told[0].contains("Locked"), "\(told)")
    #expect(try stand.on { try Self.told($0) } == ["get locked large"])
  }

  @Test("has an entry with its item's name where names are hidden, whatever ends it", arguments: [nil, 3] as [Int64?])
  func entries(_ seconds: Int64?) throws {
    let stand = try ConnectionStand.unlocked("hide-names = true")
    defer { stand.close() }
    try stand.on { client in
      client.vault.lock(because: .asked)
      client.call("Get", #"{"name":"a","wait_ms":3000}"#)
      #expect(client.messages() == [])
      // The second lock has the name forgotten that the first call came with.
      client.vault.lock(because: .asked)
      if let seconds { client.pass(.seconds(seconds)) } else { client.leave() }
    }
    if seconds != nil { _ = try stand.received("the refusal") }
    #expect(try stand.on { try Self.told($0) } == [seconds == nil ? "get cancelled a" : "get locked a"])
  }

  /// Returns the entries of the audit log about values, in a vault that was locked.
  private static func told(_ client: ConnectionStand.Inside) throws -> [String] {
    try client.unlock()
    let reading = try client.assembly.rooms.access.readAudit(AuditFilter(), for: client.connection.caller)
    defer { reading.end() }
    return try reading.page(until: .max) { 0 }.found.map(\.entry).filter { $0.action == .get }.map {
      "\($0.action.name) \($0.outcome.name) \($0.item ?? "")"
    }
  }
}
