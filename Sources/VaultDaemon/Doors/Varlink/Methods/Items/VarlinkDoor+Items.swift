internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Get, Show, History, Move and Find.
extension VarlinkDoor {
  /// The number of items in one page.
  private static let page = 100
  func get(_ call: Wire.GetParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      send(AskedValue(call, try Self.itemName(call.name), said, vault.clock), connection)
    }
  }

  /// A call of Get for a value.
  private struct AskedValue: AskedItem {
    let name: ItemName
    let version: Int?
    let evenExpired: Bool
    let said: Said
    let action = AuditAction.get
    let patience: Patience
    /// True when the reply should describe the item as well.
    let describes: Bool

    init(_ call: Wire.GetParameters, _ name: ItemName, _ said: Said, _ clock: Clock) {
      (self.name, version, evenExpired) = (name, call.version, call.expired ?? false)
      self.said = said
      describes = call.describe ?? false
      patience = Patience(milliseconds: call.waitMilliseconds, asks: call.ask ?? false, clock)
    }

    func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo longest: Int) throws(Refusal) -> Wait? {
      let mayFind = describes ? door.items.mayFind(name, connection.caller) : nil
      let reading = Reading(
        name, version: version, evenExpired: evenExpired, upTo: longest, for: connection.caller, said)
      return try door.items.get(reading) { item, version, value in
        let told = mayFind?(item) == true ? Wire.Item(item) : nil
        let reply = Wire.GetReply(name: name.text, version: version, item: told)
        connection.reply(content: ReplyContent(item.policy.accessible)) { writer in
          reply.write(to: &writer, secret: value)
        }
      }
    }
  }

  func show(_ call: Wire.ShowParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let item = try items.item(try Self.itemName(call.name), for: connection.caller)
      var told = Wire.Item(item)
      told.code = items.codeTerms(of: item, for: connection.caller).map(Wire.CodeTerms.init)
      connection.reply(
        Wire.ShowReply(item: told), content: told.code == nil ? [] : ReplyContent(item.policy.accessible))
    }
  }

  func history(_ call: Wire.HistoryParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let item = try items.item(try Self.itemName(call.name), for: connection.caller)
      let versions = item.versions.reversed().map { Wire.Version($0, isCurrent: $0.number == item.current.number) }
      connection.reply(Wire.HistoryReply(versions: versions))
    }
  }

  func move(_ call: Wire.MoveParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let (name, new) = (try Self.itemName(call.from), try Self.itemName(call.to))
      vault.audit.isAbout(.move, name.text, detail: Items.detail(ofMoveTo: new), for: connection.caller)
      try whenPrepared(.move(name, to: new), connection) { long throws(Refusal) in
        try items.move(name, to: new, long, for: connection.caller)
        connection.reply(Wire.Empty())
      }
    }
  }

  // MARK: Find, in pages

  func find(_ call: Wire.FindParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let limit = call.limit ?? .max
      let text = call.query ?? ""
      vault.audit.isAbout(.find, detail: text, for: connection.caller)
      guard limit > 0 else { throw .invalid("limit") }
      var query: Query
      do throws(QueryError) { query = try Query(parsing: text, names(for: connection.caller)) } catch {
        throw .invalidQuery(reason: error.reason, position: error.position)
      }
      query.isOfTrash = call.trash ?? false
      let owner = try searcher(text, ofTrash: query.isOfTrash, connection)
      let after = try place(call.after, owner)
      try items.begin(search: text, isContinued: after != nil, for: connection.caller)
      stream(Search(query: query, left: limit, after: after, owner: owner), connection)
    }
  }

  /// A search in progress.
  private struct Search {
    let query: Query
    var left: Int
    var after: SearchPlace?
    /// The owner for whom the search's cursors are valid.
    let owner: FindCursor.Owner
  }

  /// The names of users and groups for the query of a caller. A caller without any right finds nothing, so any number
  /// will do for a name in its query. The name service is not asked for such a caller, because it may take long, and
  /// all clients wait meanwhile.
  private func names(for caller: VaultService.Caller) -> Query.Names {
    if access.hasAny(caller) { return Query.Names(user: Accounts.user, group: Accounts.group) }
    return Query.Names(user: { _ in .max - 1 }, group: { _ in .max - 1 })
  }

  /// Returns the next page, which ends when the time is up.
  private func page(of search: Search, _ connection: VarlinkConnection) throws(Refusal) -> (
    items: [ItemInfo], next: SearchPlace?
  ) {
    try items.find(
      search.query, limit: min(search.left, Self.page), after: search.after,
      until: vault.clock.monotonic() + Turns.search, for: connection.caller)
  }

  /// Sends a page unless it is empty, lets other clients have their turn, and continues as the client reads: to the end
  /// for a stream, otherwise until something was found.
  private func stream(_ search: Search, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let (found, next) = try page(of: search, connection)
      let rest = Search(
        query: search.query, left: search.left - found.count, after: next, owner: search.owner)
      let isStream = connection.current.streams
      let isLast = rest.left <= 0 || next == nil || !isStream && !found.isEmpty
      if isLast || !found.isEmpty {
        let cursor = isStream ? nil : next.map { FindCursor($0).text(for: search.owner) }
        let isFaulty = items.mayBeMissing(for: connection.caller)
        let reply = Wire.FindReply(items: told(found), next: cursor, faulty: isFaulty ? true : nil)
        connection.reply(reply, continues: !isLast)
      }
      guard !isLast else { return }
      var isWanted = true
      connection.hold(withName: true) { isWanted = false }
      connection.whenKeepingUp { [weak self, weak connection] in
        if isWanted, let connection { self?.stream(rest, connection) }
      }
    }
  }

  /// Returns the found items as they are sent, with the time that items in the trash have left.
  private func told(_ found: [ItemInfo]) -> [Wire.Item] {
    found.map { item in
      var told = Wire.Item(item)
      told.left = items.timeInTrash(item).map { Int(clamping: $0) }
      return told
    }
  }
}
