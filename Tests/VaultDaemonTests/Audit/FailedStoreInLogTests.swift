import NIOCore
import Testing
import VaultStore
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// The calls to a daemon whose store has failed its check, where entries must be on the disk before answers: no entry
/// can be written, and the log in memory tells of each call.
@Suite("Each method of a store that has failed, in the audit log") struct FailedStoreInLogTests {
  private static let refusal = "the audit log, which is required, cannot be written"

  private static func stand() throws -> ConnectionStand {
    let stand = try ConnectionStand.unlocked("audit = required")
    do {
      try stand.on { client in client.call("Get", #"{"name":"a"}"#) }
      try stand.goRound("an answer") { client in !client.hasWork }
      try stand.edit("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
      try stand.goRound("the check") { client in (try? client.vault.keychain().hasFailed) == true }
    } catch {
      stand.close()
      throw error
    }
    return stand
  }

  /// Makes a call, and returns its replies, to the last one if the work goes on in later turns.
  private static func call(
    _ stand: ConnectionStand, _ method: MethodName, _ parameters: String = "{}", toEnd: Bool = false
  ) throws -> [String] {
    try stand.on { client in
      _ = client.messages()
      // The pause lets the daemon stop polling for the client's next request, which would wait on a clock that stands
      // still.
      client.pass(.seconds(1))
      client.send(CallLog.frame(method, parameters))
    }
    try stand.goRound("an answer to \(method)") { client in
      !client.hasWork && (!toEnd || client.connection.current.onCancel == nil)
    }
    return try stand.on { client in client.messages() }
  }

  /// Returns the entries of the client's calls that came after the first `count` ones.
  private static func told(_ stand: ConnectionStand, after count: Int = 0) throws -> [String] {
    try stand.on { client in Array(try CallLog.told(client).dropFirst(count)) }
  }

  @Test("is there as failed and is not answered, but for the exceptions, whose entries say what they did")
  func failed() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    var known = try Self.told(stand).count
    let refused = MethodName.allCases.filter { !CallLog.exceptions.contains($0) }
    for method in refused {
      // No call comes so far that its parameters are read; the entry has the name of an item in any case.
      let replies = try Self.call(stand, method, #"{"name":"x"}"#)
      #expect(replies.count == 1 && replies[0].contains(Self.refusal), "\(method) \(replies)")
    }
    let entries = try Self.told(stand, after: known)
    #expect(entries == refused.map { "call failed x: \($0.fullName)" })
    known += entries.count
    for (method, parameters, entry) in [
      (.getInfo, "{}", nil), (.getInterfaceDescription, #"{"interface":"io.vaultd.Vault"}"#, nil), (.status, "{}", nil),
      (.audit, "{}", "audit ok read"),
      (.respond, #"{"conversation":"00","answer":"x"}"#, CallLog.call(.respond, "invalid")),
      (.confirm, #"{"inquiry":1}"#, CallLog.call(.confirm, "missing")),
      (.dismiss, #"{"inquiry":1}"#, CallLog.call(.dismiss, "missing")),
    ] as [(MethodName, String, String?)] {
      let replies = try Self.call(stand, method, parameters)
      #expect(!replies.isEmpty && !replies.contains { $0.contains(Self.refusal) }, "\(method) \(replies)")
      let told = try Self.told(stand, after: known)
      #expect(told == [entry].compactMap { $0 }, "\(method)")
      known += told.count
    }
    let replies = try Self.call(stand, .lock)
    #expect(!replies.isEmpty && !replies.contains { $0.contains(Self.refusal) }, "\(replies)")
  }

  @Test(
    "names the item, in whatever way the call does",
    arguments: [
      (.move, #"{"from":"x","to":"y"}"#), (.delete, #"{"names":["x","y"]}"#),
      (.setMany, #"{"items":[{"name":"x"},{"name":"y"}]}"#), (.listSlots, "{}"),
    ] as [(MethodName, String)])
  func names(_ method: MethodName, _ parameters: String) throws {
    let stand = try Self.stand()
    defer { stand.close() }
    let known = try Self.told(stand).count
    _ = try Self.call(stand, method, parameters)
    let entry = parameters == "{}" ? CallLog.call(method, "failed") : "call failed x: \(method.fullName)"
    #expect(try Self.told(stand, after: known) == [entry])
  }

  @Test(
    "is there where the store is examined, repaired and saved, an agent attends and the settings are read again",
    arguments: [
      (.repairAudit, ["audit presence repair"]), (.attend, ["attend ok terminal"]), (.reload, ["settings ok"]),
      (.verify, ["call ok io.vaultd.Vault.Verify"]), (.salvage, ["salvage ok"]),
    ] as [(MethodName, [String])])
  func rescue(_ method: MethodName, _ entries: [String]) throws {
    let stand = try Self.stand()
    defer { stand.close() }
    let known = try Self.told(stand).count
    let parameters = method == .attend ? #"{"faces":["terminal"]}"# : "{}"
    let replies = try Self.call(stand, method, parameters, toEnd: method == .verify || method == .salvage)
    #expect(!replies.isEmpty && !replies.contains { $0.contains(Self.refusal) }, "\(replies)")
    #expect(try Self.told(stand, after: known) == entries)
  }

  @Test("asks for the secret that unlocks it") func unlock() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in client.vault.lock(because: .asked) }
    let replies = try Self.call(stand, .unlock, #"{"method":"recovery"}"#)
    #expect(replies.contains { $0.contains(#""style":"secret""#) }, "\(replies)")
  }
}
