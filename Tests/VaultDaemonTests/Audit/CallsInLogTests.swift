import Glibc
import NIOCore
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Calls every method of the Varlink socket and compares the audit entries with a table.
@Suite("Each method in the audit log") struct CallsInLogTests {
  /// A call of a method, and the entries that exist once the call was answered: `ACTION OUTCOME ITEM: DETAIL`.
  private struct Row {
    let parameters: String
    /// The entries if the client owns the vault, which is unlocked and has the item `a`.
    let allowed: [String]
    /// The entries if the client is a user without rights.
    let denied: [String]

    init(_ allowed: [String], denied: [String]? = nil) { self.init("{}", allowed, denied: denied) }

    init(_ parameters: String, _ allowed: [String], denied: [String]? = nil) {
      (self.parameters, self.allowed) = (parameters, allowed)
      self.denied = denied ?? allowed.map { $0.replacing(" ok ", with: " denied ") }
    }
  }

  private static func call(_ method: MethodName, _ outcome: String) -> String { "call \(outcome) \(method.fullName)" }

  private static func row(_ method: MethodName) -> Row {
    switch method {
    case .getInfo: Row([])
    case .getInterfaceDescription: Row(#"{"interface":"io.vaultd.Vault"}"#, [])
    case .status: Row([])
    case .`init`: Row(["create invalid"], denied: [call(method, "denied")])
    case .unlock: Row([call(method, "ok")])
    case .authenticate: Row(#"{"name":"a"}"#, [call(method, "ok")])
    case .attend: Row(#"{"faces":["terminal"]}"#, ["attend ok terminal"], denied: [call(method, "denied")])
    case .confirm: Row(#"{"inquiry":1}"#, [call(method, "missing")], denied: [call(method, "denied")])
    case .dismiss: Row(#"{"inquiry":1}"#, [call(method, "missing")], denied: [call(method, "denied")])
    case .respond: Row(#"{"conversation":"00","answer":"x"}"#, [call(method, "invalid")])
    case .lock: Row(["lock ok by `vault lock`"], denied: [call(method, "denied")])
    case .get: Row(#"{"name":"a"}"#, ["get ok a"])
    case .code: Row(#"{"name":"a"}"#, ["use invalid a: code"], denied: ["use denied a: code"])
    case .sign: Row(#"{"name":"a","value":"x"}"#, ["use invalid a: signature"], denied: ["use denied a: signature"])
    case .mac: Row(#"{"name":"a","value":"x"}"#, ["use invalid a: keyed hash"], denied: ["use denied a: keyed hash"])
    case .issueToken: Row(#"{"name":"a"}"#, ["use invalid a: token ID"], denied: ["use denied a: token ID"])
    case .verifyToken:
      Row(#"{"name":"a","token":"x"}"#, ["use invalid a: check of a token"], denied: ["use denied a: check of a token"])
    case .revokeToken:
      Row(
        #"{"name":"a","subject":"x"}"#, ["use invalid a: revokes tokens for x"],
        denied: ["use denied a: revokes tokens for x"])
    case .set: Row(#"{"name":"b","value":"x"}"#, ["set ok b"])
    case .setMany:
      Row(
        #"{"items":[{"name":"b","value":"x"},{"name":"c","value":"x"}]}"#, ["set ok b", "set ok c"],
        denied: ["set denied b: one of 2 items, none of which was changed"])
    case .importCollection:
      Row(#"{"source":"/x","label":"x","trial":true}"#, ["find ok keyring"], denied: [call(method, "denied")])
    case .importItems:
      Row(
        #"{"items":[{"source":"/x","label":"","content_type":"","attributes":[],"value":"x"}],"trial":true}"#,
        ["use ok 1 item of another keyring compared"], denied: [call(method, "denied")])
    case .export: Row(#"{"to":"x","items":2}"#, ["export ok 2 items to x"], denied: [call(method, "denied")])
    case .deposit: Row(#"{"name":"b","value":"x"}"#, ["deposit ok b: version 1"], denied: ["deposit denied b"])
    case .sealDeposit: Row(#"{"key":"x","name":"b","value":"x"}"#, [call(method, "invalid")])
    case .depositSealed:
      Row(#"{"box":"x"}"#, ["deposit invalid a sealed box"], denied: ["deposit denied a sealed box"])
    case .publicKey: Row(["find ok public key of the vault"])
    case .deposits: Row([call(method, "ok")])
    case .settleDeposit:
      Row(#"{"number":1,"accept":true}"#, ["deposit missing deposit 1 accepted"], denied: [call(method, "denied")])
    case .generate: Row(#"{"recipe":{"style":"password"}}"#, [call(method, "ok")], denied: [call(method, "ok")])
    case .copy:
      Row(
        #"{"from":"a","to":"b"}"#, ["get ok a: copied to b", "set ok b: copy of a"], denied: ["set denied b: copy of a"]
      )
    case .show: Row(#"{"name":"a"}"#, ["find ok a"])
    case .find: Row(#"{"query":"kind=wifi"}"#, ["find ok kind=wifi"], denied: ["find ok kind=wifi"])
    case .children: Row(#"{"prefix":"x"}"#, ["find ok names x"], denied: ["find ok names x"])
    case .attributes: Row(#"{"key":"x"}"#, ["find ok attributes x"], denied: ["find ok attributes x"])
    case .delete: Row(#"{"names":["a"]}"#, ["delete ok a"])
    case .undelete:
      Row(#"{"name":"a"}"#, ["set missing a: out of the trash"], denied: ["set denied a: out of the trash"])
    case .emptyTrash: Row(["delete ok all of the trash"], denied: [call(method, "denied")])
    case .restoreVersion: Row(#"{"name":"a","version":1}"#, ["set ok a: version 1 again"])
    case .move:
      Row(#"{"from":"a","to":"b"}"#, ["move ok a: to b", "move ok b: from a"], denied: ["move denied a: to b"])
    case .history: Row(#"{"name":"a"}"#, ["find ok a"])
    case .listSlots: Row([call(method, "ok")])
    case .changePassword: Row(#"{"method":"password"}"#, ["passwd failed"], denied: [call(method, "denied")])
    case .markStale:
      Row(["slot failed the login password was changed without the vault"], denied: [call(method, "denied")])
    case .addSlot: Row(#"{"kind":"recovery","method":"password"}"#, ["slot failed"], denied: [call(method, "denied")])
    case .removeSlot: Row(#"{"id":1}"#, ["slot invalid"], denied: [call(method, "denied")])
    case .rekey: Row(#"{"method":"password"}"#, ["rekey failed"], denied: [call(method, "denied")])
    case .grant:
      Row(
        #"{"subject":"user:4712","items":"a","rights":["get"]}"#, ["grant presence user:4712: a get"],
        denied: [call(method, "denied")])
    case .revoke: Row(#"{"subject":"user:4712"}"#, ["revoke presence user:4712"], denied: [call(method, "denied")])
    case .audit: Row(["audit ok read"])
    case .grants: Row(["find ok grants"], denied: ["find ok grants"])
    case .can: Row(#"{"subject":"user:4712","right":"get","name":"a"}"#, ["find ok a: whether user:4712 may get it"])
    case .rights:
      Row(
        #"{"subject":"user:4712","name":"a"}"#, ["find ok a: what user:4712 may do with it"],
        denied: [call(method, "denied")])
    case .whoMay: Row(#"{"name":"a"}"#, ["find ok a: who may do what"], denied: [call(method, "denied")])
    case .confirmGrants: Row(["grant presence all confirmed"], denied: [call(method, "denied")])
    case .repairClock: Row(["clock presence TIMES"], denied: [call(method, "denied")])
    case .forgetSubject: Row(#"{"subject":"exe:/opt/x"}"#, [call(method, "invalid")], denied: [call(method, "denied")])
    case .requests: Row(["find ok requests"], denied: [call(method, "denied")])
    case .approve:
      Row(#"{"number":1}"#, ["approve presence once, for 300 s, number 1"], denied: [call(method, "denied")])
    case .deny: Row(#"{"number":1}"#, ["deny missing number 1"], denied: [call(method, "denied")])
    case .refuse:
      Row(
        #"{"number":1}"#, ["deny missing a prompt of the keyring, number 1"], denied: [call(method, "denied")])
    case .forgetDenial:
      Row(
        #"{"subject":"user:4712","name":"a"}"#, ["deny presence a: user:4712, forgotten"],
        denied: [call(method, "denied")])
    case .verify: Row([call(method, "ok")])
    case .repairAudit: Row(["audit presence repair"], denied: [call(method, "denied")])
    case .reload: Row(["settings ok"], denied: [call(method, "denied")])
    case .secretService: Row([call(method, "ok")])
    case .joinBus:
      Row(
        #"{"address":"unix:path=/none"}"#, ["settings failed session bus: unix:path=/none"],
        denied: [call(method, "denied")])
    case .monitor: Row(["find ok watching events"])
    case .receipt:
      Row(#"{"name":"a","version":1,"succeeded":true}"#, ["receipt ok a: version 1"], denied: ["receipt denied a"])
    case .backup: Row(["backup ok", "backup cancelled"], denied: [call(method, "denied")])
    case .salvage: Row(["salvage ok"], denied: [call(method, "denied")])
    case .restore: Row(#"{"header":"AAAA"}"#, ["restore invalid"], denied: [call(method, "denied")])
    }
  }

  /// Returns the entries that the clients' calls have left, in order.
  private static func told(_ client: ConnectionStand.Inside, _ uid: uid_t = geteuid()) throws -> [String] {
    try client.entries().filter { $0.caller?.pid == getpid() && $0.caller?.uid == uid }.map { entry in
      // A token's id is random, and times depend on the clock, so replace both. The settings that Reload finds changed
      // are the stand's own.
      let detail = entry.detail.map {
        $0.replacing(/token [0-9a-f]{32}/, with: "token ID").replacing(/newest time .+/, with: "TIMES")
          .replacing(/^audit$/, with: "")
      }
      let about = [entry.item, detail].compactMap { $0 }.joined(separator: ": ")
      return ["\(entry.action.name) \(entry.outcome.name)", about].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  private static func frame(_ method: MethodName, _ parameters: String) -> String {
    let more = method.needsMore ? ",\"more\":true" : ""
    let upgrade = method.needsUpgrade ? ",\"upgrade\":true" : ""
    return "{\"method\":\"\(method.fullName)\",\"parameters\":\(parameters)\(more)\(upgrade)}\0"
  }

  @Test("is there once it is answered, by whomever it is called, as the table says", arguments: MethodName.allCases)
  func walk(_ method: MethodName) throws {
    let row = Self.row(method)
    for (uid, settings) in [(geteuid(), ""), (4711, ""), (geteuid(), "audit = required"), (4711, "audit = required")] {
      let stand = try ConnectionStand.unlocked(settings, uid: uid)
      defer { stand.close() }
      try stand.on { client in _ = client.send(Self.frame(method, row.parameters)) }
      try stand.goRound("an answer to \(method)") { client in !client.hasWork }
      // No time passes here, so the timed write of the log has not happened.
      let isOnDisk = try stand.on { client in
        try client.vault.audit.block.count == 0 && !client.vault.keychain().hasUnwrittenAudit
      }
      if !settings.isEmpty, !Self.exceptions.contains(method) { #expect(isOnDisk, "\(method) \(uid)") }
      // Verify and Salvage do their work in later turns.
      if method == .verify || method == .salvage {
        try stand.goRound("the end of \(method)") { client in client.connection.current.onCancel == nil }
      }
      let (replies, told) = try stand.on { client in (client.messages(), try Self.told(client, uid)) }
      #expect(told == (uid == geteuid() ? row.allowed : row.denied), "\(uid) \(replies)")
    }
  }

  /// Calls that wait, and the entry that the log has if the call is cancelled, for a locked or an unlocked vault.
  private static let waiting: [(method: MethodName, parameters: String, isLocked: Bool, entry: String)] = [
    (.get, #"{"name":"a","wait_ms":60000}"#, true, "get cancelled a"),
    (.sign, #"{"name":"a","value":"x","wait_ms":60000}"#, true, "use cancelled a"),
    (.mac, #"{"name":"a","value":"x","wait_ms":60000}"#, true, "use cancelled a"),
    (.code, #"{"name":"a","wait_ms":60000}"#, true, "use cancelled a"),
    (.issueToken, #"{"name":"a","wait_ms":60000}"#, true, "use cancelled a"),
    (.verifyToken, #"{"name":"a","token":"x","wait_ms":60000}"#, true, "use cancelled a"),
    (.unlock, #"{"method":"recovery"}"#, true, "unlock cancelled"),
    (.addSlot, #"{"kind":"recovery","method":"recovery"}"#, false, "slot cancelled"),
    (.rekey, #"{"method":"recovery"}"#, false, "rekey cancelled"),
    (.set, #"{"name":"k","use":"sign","generate":{"style":"rsa"}}"#, false, "set cancelled k"),
  ]

  @Test("is there as cancelled when the client leaves, or is cut off, before it is answered", arguments: [false, true])
  func unanswered(isCutOff: Bool) throws {
    for call in Self.waiting {
      let stand = try ConnectionStand.unlocked("")
      defer { stand.close() }
      try stand.on { client in
        if call.isLocked { client.vault.lock(because: .asked) }
        client.send(Self.frame(call.method, call.parameters))
      }
      try stand.goRound("the call to wait") { client in client.connection.current.onCancel != nil }
      let told = try stand.on { client in
        if isCutOff { client.connection.giveWay(most: 1) } else { client.leave() }
        return try Self.told(client)
      }
      #expect(told.map { $0.prefix(call.entry.count) } == [call.entry[...]], "\(call.method) \(told)")
    }
  }

  @Test(
    "is there as locked when a lock comes before it is begun, on the disk before it is refused",
    arguments: [
      (.set, #""name":"k""#), (.delete, #""names":["k","l"]"#), (.move, #""from":"k","to":"l""#),
      (.copy, #""from":"k","to":"l""#), (.setMany, #""items":[{"name":"k"},{"name":"l"}]"#),
    ] as [(MethodName, String)])
  func lockedBefore(method: MethodName, names: String) throws {
    let stand = try ConnectionStand.unlocked("audit = required")
    defer { stand.close() }
    try stand.on { client in
      // A frame of this length is handled in a later turn than the one that reads it.
      let value = String(repeating: "x", count: 100 << 10)
      client.send(Self.frame(method, #"{\#(names),"value":"\#(value)"}"#))
      client.vault.lock(because: .asked)
      #expect(client.messages().isEmpty)
    }
    try stand.goRound("the refusal") { client in client.connection.isClosing }
    try stand.on { client in
      #expect(client.messages().map { $0.contains("io.vaultd.Vault.Locked") } == [true])
      #expect(try client.vault.audit.block.count == 0 && !client.vault.keychain().hasUnwrittenAudit)
      try client.unlock()
      let told = try Self.told(client)
      #expect(told.contains("call locked k: \(method.fullName)"), "\(told)")
    }
  }

  @Test("of which a lock finds only a part is there as well") func lockedInPart() throws {
    let stand = try ConnectionStand.unlocked("audit = required")
    defer { stand.close() }
    try stand.on { client in
      client.send(#"{"method":"io.vaultd.Vault.Set","parameters":{"name":"k","value":"xxx"#)
      client.vault.lock(because: .asked)
    }
    try stand.goRound("the refusal") { client in client.connection.isClosing }
    let replies = try stand.on { client in client.messages() }
    #expect(replies.map { $0.contains("io.vaultd.Vault.Locked") } == [true])
    let told = try stand.on { client in
      try client.unlock()
      return try Self.told(client)
    }
    #expect(told.contains("call locked an incomplete call"), "\(told)")
  }

  /// The calls that are answered although the log is required and cannot be written: an unlock, a lock and the calls
  /// that these need; and, for a failed store, the calls that find out what is left and save it.
  private static let exceptions: Set<MethodName> = [
    .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .audit, .verify,
    .salvage, .backup, .repairAudit, .reload,
  ]

  @Test("is not answered of a store that has failed where the log is required, but for the exceptions") func failed()
    throws
  {
    let stand = try ConnectionStand.unlocked("audit = required")
    defer { stand.close() }
    try stand.on { client in client.call("Get", #"{"name":"a"}"#) }
    try stand.goRound("an answer") { client in !client.hasWork }
    try stand.edit("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    try stand.goRound("the check") { client in (try? client.vault.keychain().hasFailed) == true }
    let answer = "the audit log, which is required, cannot be written"
    func call(_ method: MethodName) throws -> [String] {
      try stand.on { client in
        _ = client.messages()
        // The pause lets the daemon stop polling for the client's next request, which would wait on a clock that stands
        // still.
        client.pass(.seconds(1))
        client.send(Self.frame(method, Self.row(method).parameters))
      }
      try stand.goRound("an answer to \(method)") { client in !client.hasWork }
      return try stand.on { client in client.messages() }
    }
    for method in MethodName.allCases where !Self.exceptions.contains(method) {
      let replies = try call(method)
      #expect(replies.count == 1 && replies[0].contains(answer), "\(method) \(replies)")
    }
    // Those of the exceptions that do not occupy the connection.
    for method in [MethodName.getInfo, .getInterfaceDescription, .status, .audit, .lock, .respond, .confirm, .dismiss] {
      let replies = try call(method)
      #expect(!replies.isEmpty && !replies.contains { $0.contains(answer) }, "\(method) \(replies)")
    }
  }

  @Test(
    "repairs a store that has failed, attends and unlocks it, where the log is required",
    arguments: [MethodName.repairAudit, .attend, .unlock])
  func rescue(_ method: MethodName) throws {
    let stand = try ConnectionStand.unlocked("audit = required")
    defer { stand.close() }
    try stand.on { client in client.call("Get", #"{"name":"a"}"#) }
    try stand.goRound("an answer") { client in !client.hasWork }
    try stand.edit("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    try stand.goRound("the check") { client in (try? client.vault.keychain().hasFailed) == true }
    try stand.on { client in
      if method == .unlock { client.vault.lock(because: .asked) }
      _ = client.messages()
      client.pass(.seconds(1))
      client.send(Self.frame(method, method == .unlock ? #"{"method":"recovery"}"# : Self.row(method).parameters))
    }
    try stand.goRound("an answer to \(method)") { client in !client.hasWork }
    let replies = try stand.on { client in client.messages() }
    #expect(!replies.isEmpty && !replies.contains { $0.contains("audit log, which is required") }, "\(replies)")
  }
}
