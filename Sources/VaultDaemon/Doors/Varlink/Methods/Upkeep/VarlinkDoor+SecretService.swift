internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// SecretService and JoinBus.
extension VarlinkDoor {
  func secretService(
    _ call: Wire.SecretServiceParameters, _: borrowing Frame, _ connection: VarlinkConnection
  ) {
    answer(connection) { () throws(Refusal) in
      let secrets = try ownSecrets()
      var isWanted = true
      connection.hold(withName: false) { isWanted = false }
      secrets.describe(for: connection.caller, reloads: call.reload ?? false) { reply in
        if isWanted { connection.reply(reply) }
      }
    }
  }

  func joinBus(_ call: Wire.JoinBusParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    vault.audit.isAbout(.settings, "session bus", detail: call.address, for: connection.caller)
    answer(connection) { () throws(Refusal) in
      let secrets = try ownSecrets()
      var isWanted = true
      connection.hold(withName: false) { isWanted = false }
      secrets.join(call.address) { refusal in
        guard isWanted else { return }
        if let refusal { connection.fail(refusal) } else { connection.reply(Wire.Empty()) }
      }
    }
  }

  private func ownSecrets() throws(Refusal) -> SecretServiceDoor {
    guard let secrets else { throw .misconfigured("the machine's vault has no session bus, and so no Secret Service") }
    return secrets
  }
}
