internal import VaultAPI

/// From a frame to the method it calls.
extension Service {
  /// Answers one call, now or by holding the connection.
  func handle(_ frame: borrowing Frame, from connection: Connection) {
    guard let methodNode = frame.member("method", of: frame.root), let method = frame.string(methodNode) else {
      return connection.fail(.service(.invalidParameter("method")))
    }
    checkDeadlines()
    do throws(ParameterError) {
      try dispatch(method, frame, connection)
    } catch {
      connection.fail(.service(.invalidParameter(error.name)))
    }
  }

  private func dispatch(
    _ method: String, _ frame: borrowing Frame, _ connection: Connection
  ) throws(ParameterError) {
    let node = frame.member("parameters", of: frame.root)
    // The most frequent one first.
    switch method {
    case "io.vaultd.Vault.Get": get(try Wire.GetParameters(frame, node), connection)
    case "io.vaultd.Vault.Status": status(connection)
    case "io.vaultd.Vault.Set": set(try Wire.SetParameters(frame, node), frame, connection)
    case "io.vaultd.Vault.SetMany": setMany(try Wire.SetManyParameters(frame, node), frame, connection)
    case "io.vaultd.Vault.Show": show(try Wire.ShowParameters(frame, node), connection)
    case "io.vaultd.Vault.Find":
      find(try Wire.FindParameters(frame, node), streams: frame.isTrue("more"), connection)
    case "io.vaultd.Vault.Delete": delete(try Wire.DeleteParameters(frame, node), connection)
    case "io.vaultd.Vault.Move": move(try Wire.MoveParameters(frame, node), connection)
    case "io.vaultd.Vault.History": history(try Wire.HistoryParameters(frame, node), connection)
    case "io.vaultd.Vault.Respond": respond(try Wire.RespondParameters(frame, node), frame, connection)
    case "io.vaultd.Vault.Lock": lockNow(connection)
    case "io.vaultd.Vault.ListSlots": listSlots(connection)
    case "io.vaultd.Vault.Init", "io.vaultd.Vault.Unlock", "io.vaultd.Vault.ChangePassword",
      "io.vaultd.Vault.AddSlot", "io.vaultd.Vault.RemoveSlot", "io.vaultd.Vault.Monitor":
      guard frame.isTrue("more") else { return connection.fail(.service(.expectedMore)) }
      try dispatchStream(method, frame, node, connection)
    case "org.varlink.service.GetInfo": serviceInfo(connection)
    case "org.varlink.service.GetInterfaceDescription":
      describe(try Wire.GetInterfaceDescriptionParameters(frame, node), connection)
    default: connection.fail(Self.unknown(method))
    }
  }

  private func dispatchStream(
    _ method: String, _ frame: borrowing Frame, _ node: Frame.Node?, _ connection: Connection
  ) throws(ParameterError) {
    switch method {
    case "io.vaultd.Vault.Init": initialize(try Wire.InitParameters(frame, node), connection)
    case "io.vaultd.Vault.Unlock": unlock(try Wire.UnlockParameters(frame, node), connection)
    case "io.vaultd.Vault.ChangePassword":
      changePassword(try Wire.ChangePasswordParameters(frame, node), connection)
    case "io.vaultd.Vault.AddSlot": addSlot(try Wire.AddSlotParameters(frame, node), connection)
    case "io.vaultd.Vault.RemoveSlot": removeSlot(try Wire.RemoveSlotParameters(frame, node), connection)
    default: monitor(connection)
    }
  }

  /// A name the interface does not know, or an interface we do not have.
  private static func unknown(_ method: String) -> Fault {
    guard let dot = method.lastIndex(of: ".") else { return .service(.invalidParameter("method")) }
    let interface = String(method[..<dot])
    return interface == VaultInterface.name || interface == ServiceInterface.name
      ? .service(.methodNotFound(method)) : .service(.interfaceNotFound(interface))
  }

  // MARK: org.varlink.service

  private func serviceInfo(_ connection: Connection) {
    connection.reply { writer in
      writer.key("vendor")
      writer.string("vaultd.io")
      writer.key("product")
      writer.string("vault")
      writer.key("version")
      writer.string(Version.text)
      writer.key("url")
      writer.string("https://vaultd.io")
      writer.key("interfaces")
      writer.beginArray()
      writer.string(ServiceInterface.name)
      writer.string(VaultInterface.name)
      writer.endArray()
    }
  }

  private func describe(_ call: Wire.GetInterfaceDescriptionParameters, _ connection: Connection) {
    let text: StaticString
    switch call.interface {
    case VaultInterface.name: text = VaultInterface.description
    case ServiceInterface.name: text = ServiceInterface.description
    default: return connection.fail(.service(.interfaceNotFound(call.interface)))
    }
    connection.reply { writer in
      writer.key("description")
      writer.string("\(text)")
    }
  }
}
