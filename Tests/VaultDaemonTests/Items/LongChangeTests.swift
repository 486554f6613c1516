import Glibc
import NIOCore
import NIOEmbedded
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@Suite("A change of an item with long versions, over the socket") struct LongChangeTests {
  private static let size = ConnectionStand.Inside.longSize
  private static let call = #"{"name":"long","accessible":"after-first-unlock","update":true}"#

  /// Makes a stand with an item of two versions, each of which is sealed in a turn of its own.
  private static func stand(_ settings: String = "") throws -> ConnectionStand {
    let stand = try ConnectionStand.unlocked(settings)
    try stand.on { client in try client.makeLongItems() }
    return stand
  }

  private static func accessible(_ client: ConnectionStand.Inside, _ name: String = "long") throws -> AccessClass {
    try client.vault.keychain().item(named: ItemName(name)).policy.accessible
  }

  /// Returns the entries of the audit log about changes of items.
  private static func told(_ client: ConnectionStand.Inside) throws -> [String] {
    let reading = try client.assembly.rooms.access.readAudit(AuditFilter(), for: client.connection.caller)
    defer { reading.end() }
    let kinds: [AuditAction] = [.set, .move, .delete]
    return try reading.page(until: .max) { 0 }.found.map(\.entry).filter { kinds.contains($0.action) }.map {
      "\($0.outcome.name) \($0.item ?? "")"
    }
  }

  /// Makes another client, whose connection the test keeps.
  private static func another(
    _ client: ConnectionStand.Inside, uid: uid_t
  ) throws -> (EmbeddedChannel, VarlinkConnection) {
    let connection = VarlinkConnection(peer: Peer(uid: uid, gid: getegid(), pid: getpid()), door: client.door)
    connection.peerStarted = PeerProcess.start(of: getpid())
    let channel = EmbeddedChannel(loop: EmbeddedEventLoop())
    try channel.pipeline.syncOperations.addHandler(connection)
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    return (channel, connection)
  }

  /// Expects that a call of another user is answered now.
  private static func expectAnswer(beside client: ConnectionStand.Inside) throws {
    let (channel, _) = try another(client, uid: 4711)
    try send("Status", over: channel)
    var answer = ""
    while let part = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: part) }
    #expect(answer.contains(#""state":"unlocked""#), "\(answer)")
    _ = try channel.finish(acceptAlreadyClosed: true)
  }

  private static func send(_ method: String, _ parameters: String = "{}", over channel: EmbeddedChannel) throws {
    let text = "{\"method\":\"io.vaultd.Vault.\(method)\",\"parameters\":\(parameters)}\0"
    try channel.writeInbound(ByteBuffer(string: text))
  }

  @Test("is made in several turns, between which others are answered, and leaves one entry") func others() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call("Set", Self.call)
      #expect(client.messages().isEmpty && client.hasWork)
      try Self.expectAnswer(beside: client)
      #expect(try client.messages().isEmpty && Self.accessible(client) == .whenUnlocked)
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    try stand.on { client in
      let answers = client.messages()
      #expect(answers.count == 1 && answers[0].contains(#""version":2"#), "\(answers)")
      #expect(client.connection.current.long == nil)
      #expect(try Self.accessible(client) == .afterFirstUnlock && Self.told(client) == ["ok long"])
      for number in 1...2 {
        let value = try client.vault.keychain().withValue(of: ItemName("long"), version: number, now: 1) { $2.array }
        #expect(value == [UInt8](repeating: UInt8(number), count: Self.size))
      }
    }
  }

  /// A call other than Set, the entry that it leaves, and the item that exists afterwards.
  struct Call: CustomTestStringConvertible, Sendable {
    let method: String
    let parameters: String
    let item: String
    /// The other items of the call.
    var others: [String] = []
    var left = "long"
    var testDescription: String { method }
    /// The entry of a call that a lock ends, which names the item only if the call has a single one.
    var locked: String { "locked \(others.isEmpty ? item : "")" }
  }

  private static let calls = [
    Call(method: "Move", parameters: #"{"from":"long","to":"moved"}"#, item: "long", left: "moved"),
    Call(method: "RestoreVersion", parameters: #"{"name":"long","version":1}"#, item: "long"),
    Call(method: "Copy", parameters: #"{"from":"other","to":"long","replace":true}"#, item: "long"),
    Call(
      method: "SetMany",
      parameters: #"{"items":[{"name":"long","accessible":"always","update":true},{"name":"new","value":"v"}]}"#,
      item: "long", others: ["new"]),
    Call(method: "Delete", parameters: #"{"names":["long"]}"#, item: "long", left: "other"),
  ]

  @Test("is made in several turns by other calls too, and leaves one entry", arguments: calls)
  private func otherCalls(_ call: Call) throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call(call.method, call.parameters)
      #expect(client.messages().isEmpty && client.hasWork && client.connection.current.long != nil)
      try Self.expectAnswer(beside: client)
      #expect(try client.vault.keychain().item(named: ItemName("long")).versions.count == 2)
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    try stand.on { client in
      let answers = client.messages()
      #expect(answers.count == 1 && !answers[0].contains("error"), "\(answers)")
      #expect(client.connection.current.long == nil)
      let others = call.others + (call.method == "Move" ? [call.left] : [])
      #expect(try Self.told(client) == ["ok \(call.item)"] + others.map { "ok \($0)" })
      _ = try client.vault.keychain().item(named: ItemName(call.left))
      #expect(try client.vault.keychain().verify().isOK)
    }
  }

  @Test("searches in turns for one of many that were deleted under its name, between which others are answered")
  func searched() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let count = 2 * TrashSearch.mostItems + 1
    try stand.on { client in
      let (keychain, name) = (try client.vault.keychain(), try ItemName("same"))
      try keychain.transaction { () throws(VaultError) in
        for number in 0..<count {
          let value = ConnectionStand.secret(Array("\(number)".utf8))
          try keychain.set(ItemChange(name: name, kind: .note), value: value, now: 1)
          try keychain.trash([name], now: 1)
        }
      }
      client.call("Undelete", #"{"name":"same"}"#)
      #expect(client.messages().isEmpty && client.hasWork && client.connection.current.long != nil)
      try Self.expectAnswer(beside: client)
      #expect(client.messages().isEmpty && keychain.trashCount == Int64(count))
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    try stand.on { client in
      let answers = client.messages()
      #expect(answers.count == 1 && !answers[0].contains("error"), "\(answers)")
      #expect(try client.connection.current.long == nil && Self.told(client) == ["ok same"])
      let value = try client.vault.keychain().withValue(of: ItemName("same"), now: 1) { $2.array }
      #expect(value == Array("\(count - 1)".utf8))
    }
  }

  @Test("holds nothing that is prepared for a client that does not read, and goes on when it does") func unread() throws
  {
    let stand = try Self.stand()
    defer { stand.close() }
    nonisolated(unsafe) var outbox: Outbox?
    try stand.on { client in
      client.call("Set", Self.call)
      #expect(client.connection.current.long != nil)
      unsafe (outbox, client.connection.outbox) = (client.connection.outbox, nil)
    }
    try stand.goRound("its turn") { client in !client.door.turns.isAwaited }
    try stand.on { client in
      #expect(client.connection.current.long == nil)
      let accessible = try Self.accessible(client)
      #expect(accessible == .whenUnlocked)
      unsafe client.connection.outbox = outbox
      client.connection.goOn(isTurn: false)
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    #expect(try stand.on { client in try Self.accessible(client) } == .afterFirstUnlock)
  }

  @Test("ends with a lock by other calls too, and changes nothing", arguments: calls)
  private func otherCallsLocked(_ call: Call) throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call(call.method, call.parameters)
      #expect(client.connection.current.long != nil)
      client.vault.lock(because: .asked)
      #expect(client.connection.current.long == nil)
      let answers = client.messages()
      #expect(answers.count == 1 && answers[0].contains("io.vaultd.Vault.Locked"), "\(answers)")
      try client.unlock()
      #expect(try Self.told(client) == [call.locked])
      #expect(try client.vault.keychain().item(named: ItemName("long")).versions.count == 2)
    }
    try stand.goRound("the turns") { client in !client.door.turns.isAwaited }
    #expect(try stand.on { client in try Self.told(client) } == [call.locked])
  }

  @Test("has nothing sealed for whoever may not make it", arguments: calls)
  private func refusedCalls(_ call: Call) throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      let (channel, connection) = try Self.another(client, uid: 4711)
      try Self.send(call.method, call.parameters, over: channel)
      #expect(connection.current.long == nil)
      _ = try channel.finish(acceptAlreadyClosed: true)
    }
  }

  @Test("is one at a time of each user, so that no more than one holds what is sealed") func oneAtATime() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      let (channel, other) = try Self.another(client, uid: geteuid())
      client.call("Set", Self.call)
      try Self.send("Set", Self.call.replacing("long", with: "other"), over: channel)
      let watch = Watch(client.connection, other, Line(of: 4711), client.door.turns)
      watch.look()
      client.kept = watch
      watch.channel = channel
    }
    try stand.goRound("both changes") { client in
      ["long", "other"].allSatisfy { (try? Self.accessible(client, $0)) == .afterFirstUnlock }
    }
    try stand.on { client in
      let watch = try #require(client.kept as? Watch)
      #expect(watch.most == 1)
      _ = try watch.channel?.finish(acceptAlreadyClosed: true)
      client.kept = nil
    }
  }

  /// Looks at two connections in each turn, on a line of its own.
  private final class Watch {
    private let connections: [VarlinkConnection]
    private let line: Line
    private let turns: Turns
    /// The largest number of connections that held sealed records at the same time.
    private(set) var most = 0
    var channel: EmbeddedChannel?

    init(_ one: VarlinkConnection, _ other: VarlinkConnection, _ line: Line, _ turns: Turns) {
      (connections, self.line, self.turns) = ([one, other], line, turns)
    }

    func look() {
      most = max(most, connections.count { $0.current.long != nil })
      guard connections.contains(where: { $0.input.isScheduled }) else { return }
      turns.wait(line) { [weak self] in self?.look() }
    }
  }

  @Test(
    "ends with a lock, and is refused as locked, with an entry that names the item",
    arguments: ["", "hide-names = true"])
  func lock(_ settings: String) throws {
    let stand = try Self.stand(settings)
    defer { stand.close() }
    try stand.on { client in
      client.call("Set", Self.call)
      #expect(client.connection.current.long != nil)
      client.vault.lock(because: .asked)
      #expect(client.connection.current.long == nil)
      let answers = client.messages()
      #expect(answers.count == 1 && answers[0].contains("io.vaultd.Vault.Locked"), "\(answers)")
      try client.unlock()
      #expect(try Self.accessible(client) == .whenUnlocked && Self.told(client) == ["locked long"])
    }
    try stand.goRound("the turns") { client in !client.door.turns.isAwaited }
    #expect(try stand.on { client in try Self.accessible(client) } == .whenUnlocked)
  }

  @Test("ends with its client") func left() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call("Set", Self.call)
      client.leave()
      #expect(client.connection.current.long == nil)
      let told = try Self.told(client)
      #expect(told == ["cancelled long"])
    }
    try stand.goRound("the turns") { client in !client.door.turns.isAwaited }
    #expect(try stand.on { client in try Self.accessible(client) } == .whenUnlocked)
  }

  @Test("is made of what the item is then, where another has changed it in between") func changed() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call("Set", Self.call)
      let change = ItemChange(name: try ItemName("long"), reuseWindow: 5, update: true)
      try client.vault.keychain().set(change, now: 1)
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    try stand.on { client in
      let answers = client.messages()
      #expect(answers.count == 1 && answers[0].contains(#""version":2"#), "\(answers)")
      let item = try client.vault.keychain().item(named: ItemName("long"))
      #expect(item.policy.accessible == .afterFirstUnlock && item.policy.reuseWindow == 5)
      #expect(try client.vault.keychain().verify().isOK)
    }
  }

  @Test("is refused where the item is removed in between") func removed() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      client.call("Set", Self.call)
      try client.vault.keychain().delete([ItemName("long")])
    }
    try stand.goRound("the answer") { client in !client.hasWork }
    try stand.on { client in
      let answers = client.messages()
      #expect(answers.count == 1 && answers[0].contains("a new item needs a value"), "\(answers)")
      let told = try Self.told(client)
      #expect(told == ["invalid long"])
    }
  }
}
