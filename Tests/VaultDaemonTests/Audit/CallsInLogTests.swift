import Glibc
import Testing
import VaultCore
import VaultStore
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Calls every method of the Varlink socket and compares the audit entries with a table.
@Suite("Each method in the audit log") struct CallsInLogTests {
  private enum Asker: CaseIterable {
    case owner
    /// The owner, in a session in which no presence was shown.
    case unproven
    case stranger

    var uid: uid_t {
      switch self {
      case .owner, .unproven: geteuid()
      case .stranger: 4711
      }
    }

    func entries(_ row: CallRow) -> [String] {
      switch self {
      case .owner: row.allowed
      case .unproven: row.unproven
      case .stranger: row.denied
      }
    }
  }

  private static func stand(_ method: MethodName, _ asker: Asker, _ settings: String) throws -> ConnectionStand {
    if method == .`init`, asker == .owner { return try ConnectionStand(settings) }
    return try ConnectionStand.unlocked(settings, uid: asker.uid)
  }

  /// Lets a call come to its answer.
  private static func end(_ method: MethodName, _ asker: Asker, _ stand: ConnectionStand) throws -> [String] {
    let answers = CallRow.of(method).answers
    if asker == .owner, !answers.isEmpty { return try stand.converse(answers) }
    try stand.goRound("an answer to \(method)") { client in !client.hasWork }
    // The answer unlocks the vault for another connection, once the secret was tried on a thread.
    if method == .respond, asker == .owner {
      try wait(for: "the unlock") { try stand.on { client in client.vault.state.kind == .unlocked } }
    }
    return try stand.on { client in client.messages() }
  }

  @Test("is there once it is answered, by whomever it is called, as the table says", arguments: MethodName.allCases)
  func walk(_ method: MethodName) throws {
    let row = CallRow.of(method)
    for (asker, settings) in Asker.allCases.flatMap({ asker in ["", "audit = required"].map { (asker, $0) } }) {
      if asker == .unproven, !row.needsProof { continue }
      let stand = try Self.stand(method, asker, settings)
      defer { stand.close() }
      try stand.on { client in
        let row = CallRow.of(method)
        let parameters = try row.prepare(client)
        if asker == .owner, row.needsProof { client.door.access.add(.presence, by: client.connection.caller, with: []) }
        client.send(CallLog.frame(method, parameters))
      }
      var replies = try Self.end(method, asker, stand)
      // No time passes here, so the timed write of the log has not happened.
      let isOnDisk = try stand.on { client in
        try client.vault.audit.block.count == 0 && !client.vault.keychain().hasUnwrittenAudit
      }
      if !settings.isEmpty, !CallLog.exceptions.contains(method) { #expect(isOnDisk, "\(method) \(asker)") }
      // Verify and Salvage do their work in later turns.
      if method == .verify || method == .salvage {
        try stand.goRound("the end of \(method)") { client in client.connection.current.onCancel == nil }
      }
      let told = try stand.on { client in
        let told = try CallLog.told(client, asker.uid)
        client.letOthersLeave()
        return told
      }
      replies += try stand.on { client in client.messages() }
      #expect(told == asker.entries(row), "\(asker) \(settings) \(replies)")
    }
  }

  /// Calls that are refused although the caller may make such calls, or that find nothing to do, and their entries.
  private static let otherwise: [(method: MethodName, parameters: String, entry: String)] = [
    (.`init`, "{}", "create invalid"),
    (.unlock, "{}", CallLog.call(.unlock, "ok")),
    (.authenticate, #"{"name":"a"}"#, CallLog.call(.authenticate, "ok")),
    (.confirm, #"{"inquiry":1}"#, CallLog.call(.confirm, "missing")),
    (.dismiss, #"{"inquiry":1}"#, CallLog.call(.dismiss, "missing")),
    (.respond, #"{"conversation":"00","answer":"x"}"#, CallLog.call(.respond, "invalid")),
    (.code, #"{"name":"a"}"#, "use invalid a: code"),
    (.sign, #"{"name":"a","value":"x"}"#, "use invalid a: signature"),
    (.mac, #"{"name":"a","value":"x"}"#, "use invalid a: keyed hash"),
    (.issueToken, #"{"name":"a"}"#, "use invalid a: token ID"),
    (.verifyToken, #"{"name":"a","token":"x"}"#, "use invalid a: check of a token"),
    (.revokeToken, #"{"name":"a","subject":"x"}"#, "use invalid a: revokes tokens for x"),
    (.sealDeposit, #"{"key":"x","name":"b","value":"x"}"#, CallLog.call(.sealDeposit, "invalid")),
    (.depositSealed, #"{"box":"x"}"#, "deposit invalid a sealed box"),
    (.settleDeposit, #"{"number":1,"accept":true}"#, "deposit missing deposit N accepted"),
    (.undelete, #"{"name":"a"}"#, "set missing a: out of the trash"),
    (.changePassword, #"{"method":"password"}"#, "passwd failed"),
    (.markStale, "{}", "slot failed the login password was changed without the vault"),
    (.addSlot, #"{"kind":"recovery","method":"password"}"#, "slot failed"),
    (.removeSlot, #"{"id":1}"#, "slot invalid"),
    (.rekey, #"{"method":"password"}"#, "rekey failed"),
    (.forgetSubject, #"{"subject":"exe:/opt/x"}"#, CallLog.call(.forgetSubject, "invalid")),
    (.approve, #"{"number":1}"#, "approve presence once, for 300 s, number 1"),
    (.deny, #"{"number":1}"#, "deny missing number 1"),
    (.refuse, #"{"number":1}"#, "deny missing a prompt of the keyring, number 1"),
  ]

  @Test("is there as well if the call is refused to its owner, or finds nothing to do") func refused() throws {
    for (method, parameters, entry) in Self.otherwise {
      let stand = try ConnectionStand.unlocked("")
      defer { stand.close() }
      try stand.on { client in _ = client.send(CallLog.frame(method, parameters)) }
      try stand.goRound("an answer to \(method)") { client in !client.hasWork }
      let (replies, told) = try stand.on { client in (client.messages(), try CallLog.told(client)) }
      #expect(told == [entry], "\(method) \(replies)")
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
      client.send(CallLog.frame(method, #"{\#(names),"value":"\#(value)"}"#))
      client.vault.lock(because: .asked)
      #expect(client.messages().isEmpty)
    }
    try stand.goRound("the refusal") { client in client.connection.isClosing }
    try stand.on { client in
      #expect(client.messages().map { $0.contains("io.vaultd.Vault.Locked") } == [true])
      #expect(try client.vault.audit.block.count == 0 && !client.vault.keychain().hasUnwrittenAudit)
      try client.unlock()
      let told = try CallLog.told(client)
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
      return try CallLog.told(client)
    }
    #expect(told.contains("call locked an incomplete call"), "\(told)")
  }
}
