internal import VaultModel
internal import VaultService

// org.freedesktop.Secret.Collection.
extension SecretServiceDoor {
  var collectionInterface: BusInterface {
    var interface = collectionInterface(with: [])
    interface.load = { [unowned self] request, peer, then in
      itemPaths(request, peer) { [unowned self] paths in then(paths.map { collectionInterface(with: $0) }) }
    }
    return interface
  }

  /// The interface of a collection with these items.
  func collectionInterface(with items: [String]) -> BusInterface {
    BusInterface(
      Self.collectionName,
      methods: [
        .init("Delete", gives: ["prompt": "o"]) { [unowned self] request, peer throws(BusError) in
          try remove(try collection(request.path), request, peer)
        },
        .init("SearchItems", takes: ["attributes": "a{ss}"], gives: ["results": "ao"]) {
          [unowned self] request, peer throws(BusError) in
          let (collection, attributes) = (try collection(request.path), try attributes(request.message))
          try search(attributes, in: collection, request, peer) { hits, writer in
            writer.paths(hits.map { SecretPath.item($0.path).text })
          }
        },
        .init(
          "CreateItem", takes: ["properties": "a{sv}", "secret": "(oayays)", "replace": "b"],
          gives: ["item": "o", "prompt": "o"]
        ) { [unowned self] request, peer throws(BusError) in try createItem(request, peer) },
      ],
      properties: [
        .init("Items", "ao", isLoaded: true) { _, _, writer in writer.paths(items) },
        .init("Label", "s") { [unowned self] path, peer, writer throws(BusError) in
          writer.string(try describe(path, peer).label)
        } set: { [unowned self] request, peer throws(BusError) in
          let (collection, label) = (try collection(request.path), try request.message.string())
          try asked { () throws(KeyringFault) in try keyring.set(label: label, of: collection, for: peer.caller) }
          request.reply()
        },
        .init("Locked", "b") { [unowned self] path, peer, writer throws(BusError) in
          let collection = try collection(path)
          vault.audit.recordAhead(for: peer.caller)
          writer.flag(keyring.isLocked(collection, for: peer.caller))
        },
        .init("Created", "t") { [unowned self] path, peer, writer throws(BusError) in
          writer.long(UInt64(max(0, try describe(path, peer).created)))
        },
        .init("Modified", "t") { [unowned self] path, peer, writer throws(BusError) in
          writer.long(UInt64(max(0, try describe(path, peer).modified)))
        },
      ],
      signals: [
        .init("ItemCreated", carries: ["item": "o"]), .init("ItemDeleted", carries: ["item": "o"]),
        .init("ItemChanged", carries: ["item": "o"]),
      ])
  }

  func collection(_ text: String) throws(BusError) -> CollectionID {
    guard case .collection(let collection)? = path(text), keyring.has(collection) else { throw .noSuchObject }
    return collection
  }

  private func describe(_ path: String, _ peer: BusPeer) throws(BusError) -> KeyringCollection {
    let collection = try collection(path)
    vault.audit.recordAhead(for: peer.caller)
    return try asked { () throws(KeyringFault) in try keyring.describe(collection, for: peer.caller) }
  }

  /// Collects the paths of a collection's items; none while they cannot be read.
  private func itemPaths(
    _ request: BusRequest, _ peer: BusPeer, _ then: @escaping (Result<[String], BusError>) -> Void
  ) {
    do throws(BusError) {
      let collection = try collection(request.path)
      signals.listRead(of: collection, by: peer)
      guard !keyring.hidesItems(in: collection) else { return then(.success([])) }
      let search: KeyringSearch
      do throws(BusError) {
        search = try asked { () throws(KeyringFault) in
          try keyring.search(KeyringAttributes(), in: collection, for: peer.caller)
        }
      } catch {
        guard error.hidesItems else { throw error }
        return then(.success([]))
      }
      step(search, of: request, peer) { [signals] hits in
        if let count = try? hits.get().count { signals.listRead(of: collection, by: peer, count: count) }
        // A lock may have overtaken the search, or the store has failed to list the items.
        if case .failure(let error) = hits, error.hidesItems { return then(.success([])) }
        then(hits.map { $0.map { SecretPath.item($0.path).text } })
      }
    } catch {
      then(.failure(error))
    }
  }

  private func remove(_ collection: CollectionID, _ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let removal: KeyringRemoval
    do throws(KeyringFault) { removal = try keyring.remove(collection, for: peer.caller) } catch {
      return try stop(removalOf: collection, error, request, peer)
    }
    inTurns(of: peer, request) { [unowned self] () throws(BusError) in
      do throws(KeyringFault) {
        guard try keyring.step(removal, for: peer.caller) else { return false }
        request.reply { $0.path(Self.noPath) }
      } catch {
        try stop(removalOf: collection, error, request, peer)
      }
      return true
    }
  }

  /// Answers a removal that cannot continue now. If the client lacks something for the removal, a prompt continues it.
  private func stop(
    removalOf collection: CollectionID, _ fault: KeyringFault, _ request: BusRequest, _ peer: BusPeer
  ) throws(BusError) {
    guard fault == .isLocked else { throw BusError(fault) }
    let prompt = try makePrompt(.remove(collection), for: peer)
    request.reply { $0.path(prompt.text) }
  }

  private func createItem(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let (collection, message) = (try collection(request.path), request.message)
    let properties = try properties(message)
    try message.skip()
    let replaces = try message.flag()
    if keyring.isLocked(collection, for: peer.caller) { throw .isLocked }
    try withSecret(of: request, after: 1, peer) { [unowned self] secret throws(BusError) in
      guard replaces else { return try create(properties, secret, in: collection, replacing: nil, request, peer) }
      let search = try asked { () throws(KeyringFault) in
        try keyring.search(properties.attributes, in: collection, isExact: true, for: peer.caller)
      }
      step(search, of: request, peer) { [weak self] result in
        do throws(BusError) {
          let found = try result.get().first?.path
          // The item to replace may be one that nobody can read now.
          if found == nil, self?.keyring.mayMiss(peer.caller, in: collection) == true { throw .isLocked }
          // Nothing comes between the search and the change.
          try self?.create(properties, secret, in: collection, replacing: found, request, peer)
        } catch {
          request.fail(error)
        }
      }
    }
  }

  private func create(
    _ properties: Properties, _ secret: ReadSecret, in collection: CollectionID, replacing old: KeyringPath?,
    _ request: BusRequest, _ peer: BusPeer
  ) throws(BusError) {
    let secret = try secret()
    let path = try asked { () throws(KeyringFault) in
      try keyring.make(
        properties.label ?? "", properties.attributes, secret, in: collection, replacing: old,
        for: peer.caller)
    }
    request.reply { writer in
      writer.path(SecretPath.item(path).text)
      writer.path(Self.noPath)
    }
  }
}
