internal import VaultModel
internal import VaultService

// org.freedesktop.Secret.Item.
extension SecretServiceDoor {
  var itemInterface: BusInterface {
    BusInterface(
      Self.itemName,
      methods: [
        .init("Delete", gives: ["prompt": "o"]) { [unowned self] request, peer throws(BusError) in
          try delete(request, peer)
        },
        .init("GetSecret", takes: ["session": "o"], gives: ["secret": "(oayays)"]) {
          [unowned self] request, peer throws(BusError) in try getSecret(request, peer)
        },
        .init("SetSecret", takes: ["secret": "(oayays)"]) { [unowned self] request, peer throws(BusError) in
          let path = try item(request.path)
          try withSecret(of: request, peer) { [unowned self] secret throws(BusError) in
            let secret = try secret()
            try asked { () throws(KeyringFault) in try keyring.set(secret, of: path, for: peer.caller) }
            request.reply()
          }
        },
      ],
      properties: [
        .init("Locked", "b") { [unowned self] path, peer, writer throws(BusError) in
          writer.flag(try isLocked(path, peer))
        },
        .init("Attributes", "a{ss}") { [unowned self] path, peer, writer throws(BusError) in
          writer.pairs(try describe(path, peer).attributes.entries.map { (key: $0.key, value: $0.value) })
        } set: { [unowned self] request, peer throws(BusError) in
          try set(label: nil, attributes: try attributes(request.message), request, peer)
        },
        .init("Label", "s") { [unowned self] path, peer, writer throws(BusError) in
          writer.string(try describe(path, peer).label)
        } set: { [unowned self] request, peer throws(BusError) in
          try set(label: try request.message.string(), attributes: nil, request, peer)
        },
        .init("Created", "t") { [unowned self] path, peer, writer throws(BusError) in
          writer.long(UInt64(max(0, try describe(path, peer).created)))
        },
        .init("Modified", "t") { [unowned self] path, peer, writer throws(BusError) in
          writer.long(UInt64(max(0, try describe(path, peer).modified)))
        },
      ])
  }

  private func item(_ text: String) throws(BusError) -> KeyringPath {
    guard case .item(let path)? = path(text) else { throw .noSuchObject }
    return path
  }

  private func describe(_ text: String, _ peer: BusPeer) throws(BusError) -> KeyringItem {
    let path = try item(text)
    return try asked { () throws(KeyringFault) in try keyring.item(path, for: peer.caller) }
  }

  private func isLocked(_ text: String, _ peer: BusPeer) throws(BusError) -> Bool {
    do throws(BusError) { return try describe(text, peer).isLocked } catch {
      guard error == .isLocked else { throw error }
      return true
    }
  }

  private func set(
    label: String?, attributes: KeyringAttributes?, _ request: BusRequest, _ peer: BusPeer
  ) throws(BusError) {
    let path = try item(request.path)
    try asked { () throws(KeyringFault) in
      try keyring.set(label: label, attributes: attributes, of: path, for: peer.caller)
    }
    request.reply()
  }

  private func delete(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let path = try item(request.path)
    var prompt = Self.noPath
    do throws(KeyringFault) { try keyring.delete(path, for: peer.caller) } catch {
      guard error == .isLocked else { throw BusError(error) }
      prompt = try makePrompt(.delete(path), for: peer).text
    }
    request.reply { $0.path(prompt) }
  }

  private func getSecret(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let path = try item(request.path)
    let session = try session(try request.message.objectPath(), peer)
    let answer = SecretAnswer(in: vault, plaintext, bus)
    inTurns(of: peer, request, for: answer) { [unowned self] () throws(BusError) in
      let isShort = try asked { () throws(KeyringFault) in
        try keyring.secret(path, upTo: answer.longest, for: peer.caller, Said()) { contentType, value in
          request.reply { writer throws(BusError) in try write(value, contentType, for: session, to: writer) }
        }
      }
      if isShort { answer.end() } else { answer.needRoom() }
      return isShort
    }
  }
}
