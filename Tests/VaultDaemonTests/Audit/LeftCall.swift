import Glibc
import NIOCore
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// A call that is not answered at once, and the entries that exist after its client has left. The entries of a call
/// that was recorded before its first answer say what it did; those of any other call say that it was cancelled.
struct LeftCall: CustomTestStringConvertible, Sendable {
  typealias Client = ConnectionStand.Inside

  let method: MethodName
  /// Makes what the call is about, and returns the call's parameters.
  let prepare: @Sendable (Client) throws -> String
  /// The beginnings of the entries.
  let entries: [String]
  /// True if the vault is locked before the call.
  var isLocked = false
  /// True if the call takes a stream of replies although the method does not need that.
  var streams = false
  /// True if the client is a user without rights.
  var isOfStranger = false

  /// The user of the client.
  var uid: uid_t { isOfStranger ? 4711 : geteuid() }
  var testDescription: String { "\(method) \(entries.last ?? "")" }

  private init(_ method: MethodName, _ entries: [String], of prepare: @escaping @Sendable (Client) throws -> String) {
    (self.method, self.entries, self.prepare) = (method, entries, prepare)
  }

  /// A call with parameters that do not depend on what is made for it.
  private init(
    _ method: MethodName, _ parameters: String, _ entries: String..., isLocked: Bool = false, streams: Bool = false,
    isOfStranger: Bool = false, after prepare: @escaping @Sendable (Client) throws -> Void = { _ in }
  ) {
    self.init(method, entries) { client in
      try prepare(client)
      return parameters
    }
    (self.isLocked, self.streams, self.isOfStranger) = (isLocked, streams, isOfStranger)
  }

  static let all = [unlocking, approving, conversations, streaming, long, others].flatMap { $0 }

  /// Calls that wait for an unlock.
  private static let unlocking = [
    LeftCall(.get, #"{"name":"a","wait_ms":60000}"#, "get cancelled a", isLocked: true),
    LeftCall(.sign, #"{"name":"a","value":"x","wait_ms":60000}"#, "use cancelled a", isLocked: true),
    LeftCall(.mac, #"{"name":"a","value":"x","wait_ms":60000}"#, "use cancelled a", isLocked: true),
    LeftCall(.code, #"{"name":"a","wait_ms":60000}"#, "use cancelled a", isLocked: true),
    LeftCall(.issueToken, #"{"name":"a","wait_ms":60000}"#, "use cancelled a", isLocked: true),
    LeftCall(.verifyToken, #"{"name":"a","token":"x","wait_ms":60000}"#, "use cancelled a", isLocked: true),
  ]

  /// Calls that wait for presence, which an agent asks for, or for an administrator's approval.
  private static let approving = [
    LeftCall(.get, #"{"name":"p","ask":true}"#, "attend ok terminal", "get cancelled p") { client in
      try client.makeItem("p", require: .password)
      try client.attend()
    },
    LeftCall(.sign, #"{"name":"s","value":"x","ask":true}"#, "attend ok terminal", "use cancelled s: signature") {
      client in
      try client.makeKey("s", for: .sign, .ed25519, require: .password)
      try client.attend()
    },
    LeftCall(
      .get, #"{"name":"a","reason":"to test","wait_ms":60000}"#, "request ok a", "get cancelled a",
      isOfStranger: true),
    LeftCall(
      .sign, #"{"name":"s","value":"x","reason":"to test","wait_ms":60000}"#, "request ok s", "use cancelled s",
      isOfStranger: true
    ) { client in try client.makeKey("s", for: .sign, .ed25519) },
  ]

  /// Calls that ask a person.
  private static let conversations = [
    LeftCall(.unlock, #"{"method":"recovery"}"#, "unlock cancelled", isLocked: true),
    LeftCall(.authenticate, #"{"name":"p","interactive":true}"#, "proof cancelled p") { client in
      try client.addSlot(.password, ConnectionStand.password, kdf: .floor)
      try client.makeItem("p", require: .password)
    },
    LeftCall(.changePassword, #"{"method":"recovery"}"#, "passwd cancelled"),
    LeftCall(.addSlot, #"{"kind":"recovery","method":"recovery"}"#, "slot cancelled"),
    LeftCall(.removeSlot, #"{"id":2,"method":"recovery"}"#, "slot cancelled") { client in
      try client.addSlot(.recovery, ConnectionStand.newCode())
    },
    LeftCall(.rekey, #"{"method":"recovery"}"#, "rekey cancelled"),
    LeftCall(.restore, ["backup cancelled check of a backup"]) { client in
      #"{"header":"\#(try client.backupHeader())","check":true}"#
    },
  ]

  /// Calls that send one reply after the other.
  private static let streaming = [
    LeftCall(.attend, #"{"faces":["terminal"]}"#, "attend ok terminal", "attend ok ended"),
    LeftCall(.monitor, "{}", "find ok watching events"),
    // More events have happened since the client's place than one turn tells of.
    LeftCall(.monitor, ["find ok watching events"]) { client in
      let place = client.door.events.recent.newest
      let name = try ItemName("b")
      for _ in 0..<400 { client.vault.hooks.announce(.item(name, .updated, version: 2)) }
      return #"{"after":"\#(EventCursor.text(place))"}"#
    },
    LeftCall(.audit, #"{"follow":true}"#, "audit ok read"),
    LeftCall(.find, #"{"query":"size>1m"}"#, "find ok size>1m", streams: true, after: fill),
    LeftCall(.find, #"{"query":"size>1m"}"#, "find ok size>1m", after: fill),
    LeftCall(.children, #"{"prefix":"a"}"#, "find ok names a", after: fill),
    LeftCall(.attributes, #"{"key":"x"}"#, "find ok attributes x", after: fill),
    LeftCall(.grants, "{}", "find ok grants") { client in
      let keychain = try client.vault.keychain()
      let subject = try Subject(parsing: "user:4712")
      let records = try (0..<200).map { number in
        GrantRecord(
          .grant(Grant(subject: subject, pattern: try ItemPattern("a/\(number)"), rights: Rights(.get), created: 1)))
      }
      try keychain.changeGrants(removing: [], adding: records, now: 2)
      client.door.access.load(keychain)
      client.passAtEachLook(.milliseconds(3))
    },
    LeftCall(.requests, "{}", "find ok requests") { client in
      _ = try client.makeRequest()
      client.passAtEachLook(.milliseconds(3))
    },
    LeftCall(.deposits, "{}", CallLog.call(.deposits, "ok")) { client in _ = try client.makeDeposit() },
    LeftCall(.verify, "{}", CallLog.call(.verify, "cancelled")),
    LeftCall(.salvage, "{}", "salvage ok"),
  ]

  /// Changes of an item with long versions, which are prepared in several turns.
  private static let long = [
    longCall(.set, #"{"name":"long","accessible":"after-first-unlock","update":true}"#, "set cancelled long"),
    longCall(
      .setMany, #"{"items":[{"name":"long","accessible":"always","update":true},{"name":"new","value":"v"}]}"#,
      "set cancelled 2 items, none of which was changed"),
    longCall(.move, #"{"from":"long","to":"moved"}"#, "move cancelled long: to moved"),
    longCall(.copy, #"{"from":"other","to":"long","replace":true}"#, "set cancelled long: copy of other"),
    longCall(.restoreVersion, #"{"name":"long","version":1}"#, "set cancelled long: version 1 restored"),
    longCall(.delete, #"{"names":["long"]}"#, "delete cancelled long"),
    LeftCall(.undelete, #"{"name":"long"}"#, "set cancelled long: out of the trash") { client in
      try client.makeLongItems()
      try client.trash("long")
    },
  ]

  /// Calls that wait for another program.
  private static let others = [
    LeftCall(.set, #"{"name":"k","use":"sign","generate":{"style":"rsa"}}"#, "set cancelled k"),
    LeftCall(.sign, #"{"name":"k","value":"x"}"#, "use cancelled k") { client in
      try client.makeLargeKey("k", for: .sign)
    },
    LeftCall(.issueToken, #"{"name":"k"}"#, "use cancelled k") { client in
      try client.makeLargeKey("k", for: .jwt)
    },
    LeftCall(.secretService, "{}", CallLog.call(.secretService, "cancelled")) { client in
      let silent = try SilentBus(at: client.vault.directory + "-bus")
      client.kept = silent
      let bus = try #require(client.door.secrets).bus
      bus.join(try #require(BusAddress(silent.address))) { _ in }
    },
  ]

  private static func longCall(_ method: MethodName, _ parameters: String, _ entry: String) -> LeftCall {
    LeftCall(method, parameters, entry) { client in try client.makeLongItems() }
  }

  /// Stores more items than one turn looks at.
  @Sendable private static func fill(_ client: Client) throws {
    for number in 0..<400 { try client.makeItem("a\(number)") }
    client.passAtEachLook(.milliseconds(2))
  }
}
