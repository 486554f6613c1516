internal import VaultModel
internal import VaultService

// org.freedesktop.Secret.Service.
extension SecretServiceDoor {
  /// The path that stands for no object.
  static let noPath = "/"

  var serviceInterface: BusInterface {
    BusInterface(
      Self.serviceName,
      methods: [
        .init("OpenSession", takes: ["algorithm": "s", "input": "v"], gives: ["output": "v", "result": "o"]) {
          [unowned self] request, peer throws(BusError) in try openSession(request, peer)
        },
        .init(
          "CreateCollection", takes: ["properties": "a{sv}", "alias": "s"],
          gives: ["collection": "o", "prompt": "o"]
        ) { [unowned self] request, peer throws(BusError) in try createCollection(request, peer) },
        .init("SearchItems", takes: ["attributes": "a{ss}"], gives: ["unlocked": "ao", "locked": "ao"]) {
          [unowned self] request, peer throws(BusError) in
          let attributes = try attributes(request.message)
          try search(attributes, in: nil, request, peer) { hits, writer in
            writer.paths(hits.filter { !$0.isLocked }.map { SecretPath.item($0.path).text })
            writer.paths(hits.filter(\.isLocked).map { SecretPath.item($0.path).text })
          }
        },
        .init("Unlock", takes: ["objects": "ao"], gives: ["unlocked": "ao", "prompt": "o"]) {
          [unowned self] request, peer throws(BusError) in try unlock(request, peer)
        },
        .init("Lock", takes: ["objects": "ao"], gives: ["locked": "ao", "prompt": "o"]) {
          [unowned self] request, peer throws(BusError) in
          try lock(request, peer)
        },
        .init("GetSecrets", takes: ["items": "ao", "session": "o"], gives: ["secrets": "a{o(oayays)}"]) {
          [unowned self] request, peer throws(BusError) in try getSecrets(request, peer)
        },
        .init("ReadAlias", takes: ["name": "s"], gives: ["collection": "o"]) {
          [unowned self] request, _ throws(BusError) in
          let collection = keyring.collection(alias: try request.message.string())
          request.reply { $0.path(collection.map { SecretPath.collection($0).text } ?? Self.noPath) }
        },
        .init("SetAlias", takes: ["name": "s", "collection": "o"]) {
          [unowned self] request, peer throws(BusError) in
          let (name, path) = (try request.message.string(), path(try request.message.objectPath()))
          guard name == "default" else { throw .notSupported("only the alias `default` can be set") }
          guard case .collection(let collection)? = path else { throw .noSuchObject }
          try asked { () throws(KeyringFault) in try keyring.setStandard(collection, for: peer.caller) }
          request.reply()
        },
      ],
      properties: [
        .init("Collections", "ao") { [unowned self] _, peer, writer in
          vault.audit.recordAhead(for: peer.caller)
          writer.paths(keyring.collections.map { SecretPath.collection($0).text })
        }
      ],
      signals: [
        .init("CollectionCreated", carries: ["collection": "o"]),
        .init("CollectionDeleted", carries: ["collection": "o"]),
        .init("CollectionChanged", carries: ["collection": "o"]),
      ])
  }

  private func createCollection(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let properties = try properties(request.message)
    let alias = try request.message.string()
    // A collection that an alias names already is not made again.
    if !alias.isEmpty, alias != "default", let collection = keyring.collection(alias: alias) {
      return request.reply { writer in
        writer.path(SecretPath.collection(collection).text)
        writer.path(Self.noPath)
      }
    }
    let (label, isStandard) = (properties.label ?? "", alias == "default")
    // A prompt would keep the label, so the label is checked first.
    try asked { () throws(KeyringFault) in try Keyring.check(label: label) }
    let made: CollectionID
    do throws(KeyringFault) {
      made = try keyring.makeCollection(label, isStandard: isStandard, for: peer.caller)
    } catch {
      guard error == .isLocked else { throw BusError(error) }
      let prompt = try makePrompt(.makeCollection(label: label, isStandard: isStandard), for: peer)
      return request.reply { writer in
        writer.path(Self.noPath)
        writer.path(prompt.text)
      }
    }
    request.reply { writer in
      writer.path(SecretPath.collection(made).text)
      writer.path(Self.noPath)
    }
  }

  private func unlock(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let objects = try request.message.objectPaths()
    var served: [String] = []
    var asked = AskedPaths()
    var index = 0
    inTurns(of: peer, request) { [unowned self] () throws(BusError) in
      guard index < objects.count else {
        // An object that does not exist lacks nothing that a person could give.
        let prompt =
          asked.lacking.isEmpty ? Self.noPath : try makePrompt(unlocking: asked, for: peer).text
        request.reply { writer in
          writer.paths(served)
          writer.path(prompt)
        }
        return true
      }
      let object = objects[index]
      index += 1
      guard let target = path(object)?.target else { return false }
      if keyring.serves(target, peer.caller) {
        served.append(object)
        asked.add(target, object, to: \.served)
      } else {
        asked.add(target, object, to: keyring.mayBeServed(target, peer.caller) ? \.lacking : \.absent)
      }
      return false
    }
  }

  private func lock(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let objects = try request.message.objectPaths()
    var locked: [String] = []
    var index = 0
    inTurns(of: peer, request) { [unowned self] () throws(BusError) in
      guard index < objects.count else {
        if !locked.isEmpty {
          do throws(Refusal) { try keyring.lock(for: peer.caller) } catch { throw BusError(.refused(error)) }
        }
        request.reply { writer in
          writer.paths(locked)
          writer.path(Self.noPath)
        }
        return true
      }
      let object = objects[index]
      index += 1
      if let target = path(object)?.target, keyring.mayBeServed(target, peer.caller) { locked.append(object) }
      return false
    }
  }

  /// The most bytes of the secrets of one answer.
  private static let mostSecrets = 32 << 20

  private func getSecrets(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    let objects = try request.message.objectPaths()
    let session = try session(try request.message.objectPath(), peer)
    let answer = SecretAnswer(in: vault, plaintext, bus)
    inTurns(of: peer, request, for: answer) { [unowned self] () throws(BusError) in
      // A lock wipes what is written, and then the answer is begun anew.
      if answer.writer == nil {
        guard let writer = request.beginReply() else { throw .failed }
        answer.begin(writer)
        writer.openArray(of: "{o(oayays)}")
      }
      guard let writer = answer.writer else { throw .failed }
      guard answer.index < objects.count else {
        writer.closeArray()
        request.finish(writer)
        answer.end()
        return true
      }
      let object = objects[answer.index]
      guard !answer.written.contains(object), case .item(let path)? = path(object) else {
        answer.index += 1
        return false
      }
      guard let count = try write(path, at: object, upTo: answer.longest, session, peer, writer) else {
        // The path is looked at again once there is room.
        answer.needRoom()
        return false
      }
      answer.written.insert(object)
      answer.index += 1
      answer.count += count
      if answer.count > Self.mostSecrets { throw .tooMuch("the secrets have more than \(Self.mostSecrets) bytes") }
      return false
    }
  }

  /// A client as the holder of large secrets.
  func client(_ peer: BusPeer) -> Plaintext.Client { Plaintext.Client(process: peer.caller.pid, line: peer.line) }

  /// Does work in the turns of a client, in parts: `step` does one part, and returns true once the request is answered.
  ///
  /// - Parameter answer: the answer that the work writes, which may have to wait for room.
  func inTurns(
    of peer: BusPeer, _ request: BusRequest, for answer: SecretAnswer? = nil,
    _ step: @escaping () throws(BusError) -> Bool
  ) {
    let goOn = { [weak self] in
      guard let self, peer.isRunning else { return request.fail(.disconnected) }
      vault.checkDeadlines()
      request.part { self.inTurns(of: peer, request, for: answer, step) }
    }
    do throws(BusError) {
      let end = vault.clock.monotonic() + Turns.search
      repeat {
        if answer?.wait(for: client(peer), goOn) == true { return }
        if try step() { return }
      } while vault.clock.monotonic() < end
    } catch {
      return request.fail(error)
    }
    turns.wait(peer.line, goOn)
  }

  /// Writes an entry of GetSecrets, and returns the number of bytes of its secret; nil, without an entry, if the secret
  /// has more than `longest` bytes. What is locked, gone or unreadable has no entry.
  private func write(
    _ path: KeyringPath, at object: String, upTo longest: Int, _ session: ClientSession, _ peer: BusPeer,
    _ writer: BusWriter
  ) throws(BusError) -> Int? {
    var (count, failure): (Int, BusError?) = (0, nil)
    do throws(KeyringFault) {
      let isShort = try keyring.secret(path, upTo: longest, for: peer.caller, Said()) { contentType, value in
        count = value.byteCount
        do throws(BusError) {
          try writer.entry(of: "o(oayays)") { () throws(BusError) in
            writer.path(object)
            try write(value, contentType, for: session, to: writer)
          }
        } catch {
          failure = error
        }
      }
      guard isShort else { return nil }
    } catch {
      switch error {
      case .isLocked, .noSuchObject, .refused(.expired), .refused(.corrupt), .refused(.storageFailed), .refused(.busy):
        return 0
      case .readOnly, .limitsExceeded, .refused: throw BusError(error)
      }
    }
    if let failure { throw failure }
    return count
  }

  // MARK: Parts

  /// The properties of a new collection or item that a client gives.
  struct Properties {
    var label: String?
    var attributes = KeyringAttributes()
  }

  /// Reads the properties of a new object; properties other than the label and the attributes are skipped.
  func properties(_ message: BusMessage) throws(BusError) -> Properties {
    var found = Properties()
    let all = try message.array(of: "{sv}") { () throws(BusError) -> Properties in
      try message.entry(of: "sv") { () throws(BusError) -> Properties in
        var one = Properties()
        switch try message.string() {
        case Self.itemName + ".Label", Self.collectionName + ".Label":
          one.label = try message.variant(of: "s") { () throws(BusError) in try message.string() }
        case Self.itemName + ".Attributes":
          one.attributes = try message.variant(of: "a{ss}") { () throws(BusError) in try attributes(message) }
        default: try message.skip()
        }
        return one
      }
    }
    for one in all {
      if let label = one.label { found.label = label }
      if !one.attributes.entries.isEmpty { found.attributes = one.attributes }
    }
    return found
  }

  func attributes(_ message: BusMessage) throws(BusError) -> KeyringAttributes {
    let pairs = try message.pairs(most: KeyringAttributes.maximumCount)
    guard Set(pairs.map { Array($0.key.utf8) }).count == pairs.count else {
      throw BusError(name: BusError.malformed.name, text: "an attribute is given twice")
    }
    do throws(ValueError) { return try KeyringAttributes(pairs) } catch { throw .tooMuch(error.reason) }
  }

  /// Makes a search in turns, and answers with what was found.
  func search(
    _ attributes: KeyringAttributes, in collection: CollectionID?, _ request: BusRequest, _ peer: BusPeer,
    _ answer: @escaping ([KeyringSearch.Hit], BusWriter) throws(BusError) -> Void
  ) throws(BusError) {
    let search: KeyringSearch
    do throws(BusError) {
      search = try asked { () throws(KeyringFault) in
        try keyring.search(attributes, in: collection, for: peer.caller)
      }
    } catch {
      guard error.hidesItems else { throw error }
      return try answerWithPlaceholder(for: attributes, in: collection, to: request, peer, answer)
    }
    step(search, of: request, peer) { [weak self] result in
      do throws(BusError) {
        do throws(BusError) {
          let hits = try result.get()
          if hits.isEmpty, self?.keyring.mayMiss(peer.caller, in: collection) == true { throw .isLocked }
          request.reply { writer throws(BusError) in try answer(hits, writer) }
        } catch {
          // A lock has overtaken the search, the result may lack items, or the store has failed.
          guard error.hidesItems else { throw error }
          try self?.answerWithPlaceholder(for: attributes, in: collection, to: request, peer, answer)
        }
      } catch {
        request.fail(error)
      }
    }
  }

  /// Answers a search that cannot be made now with a path that stands for its first match.
  private func answerWithPlaceholder(
    for attributes: KeyringAttributes, in collection: CollectionID?, to request: BusRequest, _ peer: BusPeer,
    _ answer: ([KeyringSearch.Hit], BusWriter) throws(BusError) -> Void
  ) throws(BusError) {
    let path = try asked { () throws(KeyringFault) in
      try keyring.placeholder(for: attributes, in: collection, peer, peer.caller)
    }
    keepSearches(of: peer)
    request.reply { writer throws(BusError) in try answer([.locked(path)], writer) }
  }

  /// Keeps the waiting searches of a client for as long as its connection lasts.
  func keepSearches(of peer: BusPeer) {
    let program = ObjectIdentifier(peer)
    guard searchers.insert(program).inserted else { return }
    peer.onEnd { [weak self, unowned peer] in
      self?.searchers.remove(program)
      self?.keyring.forgetSearches(of: peer)
    }
  }

  /// Continues a search in the turns of its client, to the end.
  ///
  /// - Parameter request: the call that the search is a part of; nil for none.
  func step(
    _ search: KeyringSearch, of request: BusRequest? = nil, _ peer: BusPeer,
    then: @escaping (Result<[KeyringSearch.Hit], BusError>) -> Void
  ) {
    var search = search
    do throws(KeyringFault) {
      let end = vault.clock.monotonic() + Turns.search
      if try keyring.step(&search, until: end, for: peer.caller) { return then(.success(search.hits)) }
    } catch {
      return then(.failure(BusError(error)))
    }
    turns.wait(peer.line) { [weak self] in
      guard let self, peer.isRunning else { return then(.failure(.disconnected)) }
      guard let request else { return step(search, peer, then: then) }
      request.part { self.step(search, of: request, peer, then: then) }
    }
  }
}
