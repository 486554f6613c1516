internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The way in which items are fetched.
struct Fetch: Equatable {
  /// The seconds to wait for an unlock or an approval, for all items together.
  var waitSeconds: Int64?
  /// The purpose, in words for an administrator and the audit log.
  var reason: String?
  var expired = false

  /// Fetches all references over one connection. If one fails, throws an error that names its item.
  ///
  /// - Parameters:
  ///   - purpose: the text for a person who is asked to unlock the vault.
  ///   - place: returns the place of a reference in a file, for an error; nil if no file holds the reference.
  func items(
    _ references: some Sequence<ItemReference>, for purpose: String, _ session: Session,
    place: (ItemReference) -> String? = { _ in nil }
  ) throws(Failure) -> FetchedItems {
    session.vault.reason = reason
    let end = waitSeconds.map { Moment.now() + Int($0) * 1000 }
    var fetched = FetchedItems()
    for item in Self.items(references) {
      // The part that is being fetched, for an error.
      var part = ItemReference(item.name, field: item.fields[0])
      do throws(Failure) {
        let wait = end.map { Duration.milliseconds(max(0, $0 - Moment.now())) }
        try add(item, &part, to: &fetched, wait: wait, for: purpose, session)
      } catch {
        throw error.naming(item.name, at: place(part)).explainingPrefix.explainingMark(in: part, session)
      }
    }
    return fetched
  }

  private struct Item {
    let name: ItemName
    var fields: [String?]
  }

  /// Returns each item once with all its requested fields, in the order of first mention.
  private static func items(_ references: some Sequence<ItemReference>) -> [Item] {
    var items: [Item] = []
    var places: [ItemName: Int] = [:]
    for reference in references {
      if let place = places[reference.name] {
        if !items[place].fields.contains(reference.field) { items[place].fields.append(reference.field) }
      } else {
        places[reference.name] = items.count
        items.append(Item(name: reference.name, fields: [reference.field]))
      }
    }
    return items
  }

  private func add(
    _ item: Item, _ part: inout ItemReference, to fetched: inout FetchedItems,
    wait: Duration?, for purpose: String, _ session: Session
  ) throws(Failure) {
    let name = item.name
    let needsValue = item.fields.contains { $0 == nil || $0 == "uri" }
    var told: Wire.Item?
    if needsValue {
      let value = try session.reading(wait: wait, for: purpose) { vault, wait in
        try vault.read(
          name.text, wait: wait, expired: expired, ask: wait == nil && !Keyboard.canAsk,
          describe: item.fields.contains { $0 != nil })
      }
      told = value.item
      if item.fields.contains(nil) {
        value.bytes.withBytes { fetched.add(ItemReference(name), version: value.version, $0) }
      }
      if item.fields.contains("uri") {
        part = ItemReference(name, field: "uri")
        let shown = try self.told(told, name, wait: nil, for: purpose, session)
        told = shown
        let uri = try ItemURI.uri(of: shown, value.bytes)
        uri.withBytes { fetched.add(ItemReference(name, field: "uri"), version: value.version, $0) }
      }
    }
    let fields = item.fields.compactMap { $0 }.filter { $0 != "uri" }
    guard !fields.isEmpty else { return }
    // Once the value was allowed, the details need no wait.
    let shown = try self.told(told, name, wait: needsValue ? nil : wait, for: purpose, session)
    for field in fields {
      part = ItemReference(name, field: field)
      let text = try ItemField.known(field, of: shown)
      fetched.add(ItemReference(name, field: field), version: shown.version, unsafe text.utf8.span.bytes)
    }
  }

  /// Returns the details that came with an item's value; otherwise asks for them now.
  private func told(
    _ item: Wire.Item?, _ name: ItemName, wait: Duration?, for purpose: String, _ session: Session
  ) throws(Failure) -> Wire.Item {
    if let item { return item }
    return try session.reading(wait: wait, for: purpose) { vault, _ in try vault.show(name.text) }
  }
}

extension Session {
  /// Makes a call that reads an item. With a time to wait, the daemon waits for an unlock; otherwise, if somebody is
  /// there to ask, that person is asked for an unlock.
  func reading<R: ~Copyable>(
    wait: Duration?, for purpose: String, _ body: (Vault, _ wait: Duration?) throws -> R
  ) throws(Failure) -> R {
    do throws(Failure) {
      guard let wait else { return try unlocking(for: purpose) { try body($0, nil) } }
      guard wait > .zero, WaitingLine.isRead else { return try call { try body($0, wait) } }
      return try waiting(now: { try body($0, nil) }, call: { try body($0, wait) })
    } catch {
      // Somebody is there, but with `--wait` nobody is asked.
      if wait != nil, mayAsk, error.advice == Failure.askOnTerminal {
        throw Failure(error.exit, error.event, "leave out --wait: with it nobody is asked")
      }
      throw error.tellingHowToAsk(vault.reason)
    }
  }
}

extension Failure {
  /// The same failure; if the missing item's name begins with `vault:`, as an item in a .env file does, with advice to
  /// leave the prefix out.
  fileprivate var explainingPrefix: Failure {
    guard let missing, !missing.isDoubtful, missing.name.hasPrefix("vault:") else { return self }
    return Failure(exit, event, "leave out `vault:`, which stands before an item only in a .env file")
  }

  /// The same failure; if an item has the whole reference as its name, with advice on how to write that item.
  fileprivate func explainingMark(in part: ItemReference, _ session: Session) -> Failure {
    guard exit == .missing, part.field != nil, missing?.isDoubtful != true,
      MissingItem(name: part.label, location: session.vault.location).isThere
    else { return self }
    let written = Printable.quoted("\(part.label)#value")
    return Failure(exit, event, "for the item \(Printable.quoted(part.label)) write \(written)")
  }

  /// The same failure with the item's name and its place in a file, if it is about the item and does not tell them.
  fileprivate func naming(_ name: ItemName, at place: String?) -> Failure {
    let quoted = Printable.quoted(name.text)
    guard [.denied, .invalid, .missing].contains(exit) else { return self }
    let lacks = [place, event.contains(quoted) ? nil : quoted].compactMap { $0 }
    guard !lacks.isEmpty else { return self }
    var failure = Failure(exit, (lacks + [event]).joined(separator: ": "), advice)
    failure.missing = missing
    failure.names = names
    return failure
  }
}
