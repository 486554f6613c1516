import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The secret of a call of the Secret Service") struct LongSecretTests {
  private static let storing: [SecretCall] = [.createItem, .setSecret]

  private static func step(_ call: SecretCall, _ count: Int) -> SecretDoorStand.Step {
    let value = "(c.session, dbus.ByteArray(b''), dbus.ByteArray(b'n' * \(count)), 'text/plain')"
    let secret = "dbus.Struct(\(value), signature='oayays')"
    if call == .setSecret {
      return .init(
        call: call, interface: SecretServiceDoor.itemName, path: "c.item", values: "'(oayays)', \(secret)")
    }
    return .init(
      call: call, interface: SecretServiceDoor.collectionName, path: "LOGIN",
      values: "'a{sv}(oayays)b', properties(c.name), \(secret), True")
  }

  /// Makes a call, and has `turn` run in the first turn after that in which the call is begun.
  ///
  /// - Returns: the last part of the name of the error.
  private func make(
    _ call: SecretCall, _ count: Int, in stand: SecretDoorStand, _ lines: LoopLines,
    turn: @escaping @Sendable (ConnectionStand.Inside) -> Void = { _ in }
  ) throws -> String? {
    try stand.connection.on { client in
      guard let peers = client.door.secrets?.peers else { return }
      let begin = peers.begin
      peers.begin = { [unowned client] request, peer throws(BusError) in
        try begin(request, peer)
        guard SecretCall(request.message.interface ?? "", request.message.member ?? "") == call else { return }
        let pass = request.pass
        request.pass = { error in
          lines.add("answer")
          return pass(error)
        }
        client.assembly.turns.wait { [unowned client] in
          lines.add("turn")
          turn(client)
        }
      }
    }
    return try stand.walk([Self.step(call, count)], .right).made[call]?.error
  }

  @Test("is decoded in one turn and stored in a later one if it is long", arguments: storing)
  func turns(call: SecretCall) throws {
    for (count, order) in [(10, ["answer", "turn"]), (100_000, ["turn", "answer"])] {
      let stand = try SecretDoorStand("")
      defer { stand.close() }
      let lines = LoopLines()
      #expect(try make(call, count, in: stand, lines) == "")
      #expect([lines.next(), lines.next()] == order, "\(count)")
    }
  }

  @Test("is wiped by a lock in between, and the client is told to unlock", arguments: storing)
  func lock(call: SecretCall) throws {
    let stand = try SecretDoorStand("")
    defer { stand.close() }
    let lines = LoopLines()
    let error = try make(call, 100_000, in: stand, lines) { client in client.vault.lock(because: .asked) }
    #expect(error == "IsLocked")
    #expect([lines.next(), lines.next()] == ["turn", "answer"])
    #expect(try stand.connection.on { $0.vault.state.kind } == .locked)
  }
}
