import NIOCore
import Testing
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// The clients of calls over the Varlink socket that leave, or are disconnected, before the last answer.
@Suite("A call without its answer, in the audit log") struct UnansweredInLogTests {
  /// Ends the client's connection if its call waits.
  @Sendable private static func leave(_ client: ConnectionStand.Inside, isCutOff: Bool) -> Bool {
    let current = (client.connection.current.onCancel != nil, client.connection.current.long != nil)
    guard current.0 || current.1 else { return false }
    guard isCutOff else {
      client.leave()
      return true
    }
    client.connection.giveWay(most: 1)
    // The channel tells the connection of its end in a later turn.
    client.pass(.nanoseconds(0))
    return true
  }

  @Test(
    "is there, as cancelled unless an answer was begun, when the client leaves or is cut off", arguments: LeftCall.all,
    [false, true])
  func left(_ call: LeftCall, isCutOff: Bool) throws {
    let stand = try ConnectionStand.unlocked("", uid: call.uid)
    defer { stand.close() }
    // A client that leaves in the turn of its call has no reply of the turns that follow.
    let hasLeft = try stand.on { client in
      let parameters = try call.prepare(client)
      if call.isLocked { client.vault.lock(because: .asked) }
      client.send(CallLog.frame(call.method, parameters, streams: call.streams))
      return Self.leave(client, isCutOff: isCutOff)
    }
    if !hasLeft { try stand.goRound("the call to wait") { Self.leave($0, isCutOff: isCutOff) } }
    let told = try stand.on { client in
      // The end of a bus for which the call has waited adds no entry.
      client.door.secrets?.bus.giveUpJoining()
      let told = try CallLog.told(client, call.uid)
      client.letOthersLeave()
      return told
    }
    let begins = zip(told, call.entries).allSatisfy { $0.hasPrefix($1) }
    #expect(told.count == call.entries.count && begins, "\(told)")
  }

  /// The tests in which the calls of a method are left before their answer.
  private enum Place {
    /// The test over ``LeftCall/all``.
    case table
    /// A test of this one method, here or in ``TransfersInLogTests``.
    case ownTest
    /// No test, although a call may wait: it has no entry.
    case withoutEntry
    /// No test: a call is answered in the turn in which it is handled. That turn may come only after the file was read
    /// that the client's process runs.
    case answeredAtOnce
  }

  private static func place(of method: MethodName) -> Place {
    switch method {
    case .unlock, .authenticate, .attend, .get, .code, .sign, .mac, .issueToken, .verifyToken, .set, .setMany, .copy,
      .find, .children, .attributes, .delete, .undelete, .restoreVersion, .move, .changePassword, .addSlot, .removeSlot,
      .rekey, .audit, .grants, .requests, .deposits, .verify, .monitor, .salvage, .restore, .secretService:
      .table
    case .`init`, .joinBus, .backup: .ownTest
    case .status: .withoutEntry
    case .getInfo, .getInterfaceDescription, .respond, .lock, .confirm, .dismiss, .refuse, .revokeToken, .deposit,
      .sealDeposit, .depositSealed, .publicKey, .settleDeposit, .generate, .show, .emptyTrash, .history, .listSlots,
      .markStale, .grant, .revoke, .can, .rights, .whoMay, .confirmGrants, .forgetSubject, .approve, .deny,
      .forgetDenial, .repairAudit, .repairClock, .receipt, .reload, .importCollection, .importItems, .export,
      .beginImport:
      .answeredAtOnce
    }
  }

  @Test("is tried with each method whose calls may wait") func complete() {
    let waiting = MethodName.allCases.filter { Self.place(of: $0) == .table }
    #expect(Set(LeftCall.all.map(\.method)) == Set(waiting))
  }

  @Test("is there as cancelled where a bus does not answer that the daemon was to join", arguments: [false, true])
  func joining(isCutOff: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let silent = try SilentBus(at: sandbox.root + "/silent")
    let stand = try ConnectionStand.unlocked("secret-service = on")
    defer { stand.close() }
    let told = try stand.on { client in
      client.send(CallLog.frame(.joinBus, #"{"address":"\#(silent.address)"}"#))
      let isWaiting = Self.leave(client, isCutOff: isCutOff)
      client.door.secrets?.bus.giveUpJoining()
      #expect(isWaiting, "\(client.messages())")
      return try CallLog.told(client)
    }
    #expect(told == ["settings cancelled session bus: \(silent.address)"])
  }

  @Test("is not there if there was no vault yet, and the next call that makes one is") func beforeTheVault() throws {
    let stand = try ConnectionStand("")
    defer { stand.close() }
    let parameters = #"{"kdf_memory":19922944,"kdf_passes":2}"#
    try stand.on { client in
      let first = try client.another()
      first.send(CallLog.frame(.`init`, parameters))
      #expect(first.messages().count == 1 && client.door.conversations.count == 1)
      first.leave()
      #expect(client.door.conversations.isEmpty)
      client.send(CallLog.frame(.`init`, parameters))
    }
    let replies = try stand.converse([ConnectionStand.password])
    let told = try stand.on { client in
      client.letOthersLeave()
      return try CallLog.told(client)
    }
    #expect(told == ["unlock ok the vault was created", "create ok"], "\(replies)")
  }
}
