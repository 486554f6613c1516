internal import NIOCore
internal import VaultAPI
internal import VaultModel
internal import VaultStore

/// Find, in pages.
extension Service {
  /// Items in one page: small enough for a frame whatever their attributes, and not to keep the loop from others.
  private static let page = 100

  func find(_ call: Wire.FindParameters, streams: Bool, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    let limit = call.limit ?? .max
    guard limit > 0 else { return connection.fail(.invalid("limit")) }
    var after: FindCursor?
    if let text = call.after {
      after = FindCursor(text)
      if after == nil { return connection.fail(.invalid("after")) }
    }
    do throws(QueryError) {
      let query = try Query(parsing: call.query ?? "")
      let search = Search(keychain: keychain, query: query, left: limit, after: after?.place)
      streams ? stream(search, connection) : onePage(search, connection)
    } catch {
      connection.fail(.invalidQuery(reason: error.reason, position: error.position))
    }
  }

  /// A search that is under way.
  private struct Search {
    let keychain: Keychain
    let query: Query
    var left: Int
    var after: Int64?

    mutating func page(now: Int64) throws(VaultError) -> [ItemInfo] {
      let found = try keychain.find(query, limit: min(left, Service.page), after: after, now: now)
      left -= found.items.count
      after = found.next
      return found.items
    }
  }

  private func onePage(_ search: Search, _ connection: Connection) {
    var search = search
    do throws(VaultError) {
      let items = try search.page(now: clock.wall())
      let next = search.after.map { FindCursor($0).text }
      connection.reply(Wire.FindReply(items: items.map { Wire.Item($0) }, next: next))
    } catch {
      connection.fail(fault(error, name: ""))
    }
  }

  /// Sends a page, lets the others have their turn, and goes on while the client reads.
  private func stream(_ search: Search, _ connection: Connection) {
    var search = search
    do throws(VaultError) {
      let items = try search.page(now: clock.wall())
      let isLast = search.left <= 0 || search.after == nil
      connection.reply(Wire.FindReply(items: items.map { Wire.Item($0) }), continues: !isLast)
      guard !isLast else { return }
      let rest = Waiter { [weak self, weak connection] in
        guard let self, let connection else { return }
        stream(search, connection)
      }
      connection.hold { rest.cancel() }
      connection.whenKeepingUp { rest.go() }
    } catch {
      connection.fail(fault(error, name: ""))
    }
  }
}
