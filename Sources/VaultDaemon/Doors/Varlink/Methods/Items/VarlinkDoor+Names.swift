internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Children and Attributes: streams of short texts, with one turn's work in each reply.
extension VarlinkDoor {
  func children(_ call: Wire.ChildrenParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let walk = NameWalk(prefix: call.prefix ?? "")
      let left = try Self.limit(call.limit)
      try items.begin(search: "names \(call.prefix ?? "")", for: connection.caller)
      tell(left, connection) { (end: Int64, caller: VaultService.Caller) throws(Refusal) in
        let (names, isOver) = try self.items.children(walk, until: end, for: caller)
        return (names, isOver)
      } reply: {
        connection.reply(Wire.ChildrenReply(names: $0), continues: $1)
      }
    }
  }

  func attributes(_ call: Wire.AttributesParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      var after: SearchPlace?
      // The texts are compared by their bytes, as the store does.
      var known: Set<[UInt8]> = []
      let left = try Self.limit(call.limit)
      try items.begin(search: call.key.map { "attributes \($0)" } ?? "attributes", for: connection.caller)
      tell(left, connection) { (end: Int64, caller: VaultService.Caller) throws(Refusal) in
        let (texts, next) = try self.items.attributes(call.key, after: after, until: end, for: caller)
        after = next
        return (texts.filter { known.insert(Array($0.utf8)).inserted }, next == nil)
      } reply: {
        connection.reply(Wire.AttributesReply(texts: $0), continues: $1)
      }
    }
  }

  private static func limit(_ limit: Int?) throws(Refusal) -> Int {
    guard limit ?? 1 > 0 else { throw .invalid("limit") }
    return min(limit ?? .max, NameWalk.most)
  }

  /// Sends the texts that `next` finds, at most `left`, and continues as the client reads and others have their turns.
  private func tell(
    _ left: Int, _ connection: VarlinkConnection,
    _ next: @escaping (Int64, VaultService.Caller) throws(Refusal) -> ([String], isOver: Bool),
    reply: @escaping ([String], Bool) -> Void
  ) {
    answer(connection) { () throws(Refusal) in
      let (found, isOver) = try next(vault.clock.monotonic() + Turns.search, connection.caller)
      let rest = left - found.count
      let isLast = isOver || rest <= 0
      reply(Array(found.prefix(left)), !isLast)
      guard !isLast else { return }
      var isWanted = true
      connection.hold(withName: true) { isWanted = false }
      connection.whenKeepingUp { [weak self, weak connection] in
        if isWanted, let connection { self?.tell(rest, connection, next, reply: reply) }
      }
    }
  }
}
