internal import VaultAPI
internal import VaultStore

/// From a call to the method it names.
extension Service {
  /// Answers one call, now or by holding the connection.
  func handle(
    _ call: Call, _ frame: borrowing Frame, from connection: Connection
  ) throws(ParameterError) {
    guard let method = MethodName(frame, call.method) else {
      return connection.fail(.unknownMethod(frame.string(call.method) ?? ""))
    }
    guard call.more || !method.needsMore else { return connection.fail(.service(.expectedMore)) }
    guard call.upgrade || !method.needsUpgrade else { return connection.fail(.invalid("upgrade")) }
    checkDeadlines()
    defer { foldLogLater() }
    let node = call.parameters
    switch method {
    case .get: get(try Wire.GetParameters(frame, node), connection)
    case .status: status(try Wire.Empty(frame, node), connection)
    case .set: set(try Wire.SetParameters(frame, node), frame, connection)
    case .setMany: setMany(try Wire.SetManyParameters(frame, node), frame, connection)
    case .show: show(try Wire.ShowParameters(frame, node), connection)
    case .find: find(try Wire.FindParameters(frame, node), streams: call.more, connection)
    case .delete: delete(try Wire.DeleteParameters(frame, node), connection)
    case .move: move(try Wire.MoveParameters(frame, node), connection)
    case .history: history(try Wire.HistoryParameters(frame, node), connection)
    case .initialize: initialize(try Wire.InitParameters(frame, node), connection)
    case .unlock: unlock(try Wire.UnlockParameters(frame, node), connection)
    case .authenticate: authenticate(try Wire.AuthenticateParameters(frame, node), connection)
    case .respond: respond(try Wire.RespondParameters(frame, node), frame, connection)
    case .lock: lockNow(try Wire.Empty(frame, node), connection)
    case .listSlots: listSlots(try Wire.Empty(frame, node), connection)
    case .changePassword: changePassword(try Wire.ChangePasswordParameters(frame, node), connection)
    case .markStale: markStale(try Wire.Empty(frame, node), connection)
    case .addSlot: addSlot(try Wire.AddSlotParameters(frame, node), connection)
    case .removeSlot: removeSlot(try Wire.RemoveSlotParameters(frame, node), connection)
    case .rekey: rekey(try Wire.RekeyParameters(frame, node), connection)
    case .monitor: monitor(try Wire.Empty(frame, node), connection)
    case .verify: verify(try Wire.Empty(frame, node), connection)
    case .salvage: salvage(try Wire.Empty(frame, node), connection)
    case .backup: backup(try Wire.BackupParameters(frame, node), connection)
    case .restore: restore(try Wire.RestoreParameters(frame, node), connection)
    case .getInfo: serviceInfo(try Wire.Empty(frame, node), connection)
    case .getInterfaceDescription: describe(try Wire.GetInterfaceDescriptionParameters(frame, node), connection)
    }
  }

  /// Has a long log folded into the store's main file in a later turn, so that nobody waits for that and a change at once.
  private func foldLogLater() {
    guard case .open(let keychain) = vault.content, keychain.hasLongLog else { return }
    turns.wait { if keychain.hasLongLog { keychain.foldLog() } }
  }

  // MARK: org.varlink.service

  private func serviceInfo(_: Wire.Empty, _ connection: Connection) {
    connection.reply(
      Wire.GetInfoReply(
        vendor: "io.vaultd", product: "vault", version: Version.text, url: "",
        interfaces: [ServiceInterface.name, VaultInterface.name]))
  }

  private func describe(_ call: Wire.GetInterfaceDescriptionParameters, _ connection: Connection) {
    switch call.interface {
    case VaultInterface.name:
      connection.reply(Wire.GetInterfaceDescriptionReply(description: "\(VaultInterface.description)"))
    case ServiceInterface.name:
      connection.reply(Wire.GetInterfaceDescriptionReply(description: "\(ServiceInterface.description)"))
    default: connection.fail(.service(.interfaceNotFound(interface: call.interface)))
    }
  }
}
