package import VaultModel
internal import VaultStore

/// A search in the keyring, made in parts so that others do not wait for it: ``Keyring/step(_:until:for:)``.
package struct KeyringSearch {
  /// An item that was found.
  package struct Hit {
    package let path: KeyringPath
    package let isLocked: Bool
    fileprivate let order: UInt64

    /// A locked hit, whose path stands for an item that cannot be determined now.
    package static func locked(_ path: KeyringPath) -> Hit { Hit(path: path, isLocked: true, order: 0) }
  }

  fileprivate let attributes: KeyringAttributes
  /// The collection that is searched; nil for all.
  fileprivate let collection: CollectionID?
  /// True to find only items that have these attributes and no others.
  fileprivate let isExact: Bool
  /// The queries that are still to be made, the current one first, and whether each is for shared items.
  fileprivate var queries: [(query: Query, isShared: Bool)]
  fileprivate var place: SearchPlace?
  /// The items of the session that are still to be looked at.
  fileprivate var ofSession: [KeyringID] = []
  fileprivate var own: [Hit] = []
  fileprivate var shared: [Hit] = []
  fileprivate var sharedPaths: Set<KeyringPath> = []
  /// The changes since the search began, if it must not miss them.
  fileprivate var changes: KeyringChanges?

  /// The items found, in the order in which programs see them: by their own order, and then the shared ones.
  package var hits: [Hit] { own.sorted { ($0.order, $0.path.element) < ($1.order, $1.path.element) } + shared }
}

/// The paths of items that have changed since a search began.
final class KeyringChanges {
  fileprivate var paths: Set<KeyringPath> = []

  func add(_ path: KeyringPath) { paths.insert(path) }
}

// Searches.
extension Keyring {
  /// Begins a search for the items that have at least some attributes.
  ///
  /// - Parameters:
  ///   - collection: the collection to search; nil for all.
  ///   - isExact: true to find only items that have these attributes and no others. At its end, the search is right
  ///     about what has changed since its beginning, so that a program may replace what it has found.
  ///   - isAsked: false if the caller did not ask, but is told of a change; then the search has no entry in the audit
  ///     log.
  package func search(
    _ attributes: KeyringAttributes, in collection: CollectionID? = nil, isExact: Bool = false, isAsked: Bool = true,
    for caller: Caller
  ) throws(KeyringFault) -> KeyringSearch {
    guard !hidesItems(in: collection) else { throw .isLocked }
    if let collection, !has(collection) { throw .noSuchObject }
    if isAsked {
      do throws(Refusal) { try items.begin(search: "keyring", for: caller) } catch { throw KeyringFault(error) }
      // The search is only a part of a call that replaces what it finds.
      if isExact { vault.audit.hasRecordedPart(for: caller) }
    }
    var queries: [(query: Query, isShared: Bool)] = []
    switch collection {
    case .session: break
    case .login, .made: queries.append((Query(keyring: attributes, within: collection?.folder), false))
    case nil:
      queries.append((Query(keyring: attributes, within: CollectionID.root), false))
      queries += sharedQueries(attributes)
    case .shared: queries += sharedQueries(attributes)
    }
    var search = KeyringSearch(attributes: attributes, collection: collection, isExact: isExact, queries: queries)
    if collection == nil || collection == .session { search.ofSession = ofSession.ids }
    return search
  }

  /// Looks at an item of the session, unless it is gone by now.
  private func take(ofSession id: KeyringID, _ search: inout KeyringSearch, _ caller: Caller) throws(KeyringFault) {
    let item: ItemInfo
    do throws(Refusal) { item = try ofSession.item(id) } catch {
      if case .noSuchItem = error { return }
      throw KeyringFault(error)
    }
    let found = access.decide(.find, item.name, item.policy, for: caller) == .allow
    guard found, let facts = item.keyring else { return }
    guard search.isExact ? facts.attributes == search.attributes : facts.attributes.contains(search.attributes) else {
      return
    }
    search.own.append(
      KeyringSearch.Hit(
        path: KeyringPath(.session, facts.id.text), isLocked: isLocked(item, for: caller), order: facts.order))
  }

  private func sharedQueries(_ attributes: KeyringAttributes) -> [(query: Query, isShared: Bool)] {
    settings.shares.map { (Query(sharedBy: $0, attributes), true) }
  }

  /// Continues a search; true at its end. A search that a lock has overtaken throws, because it could miss items.
  ///
  /// - Parameter end: the time at which the part ends in any case, in `CLOCK_MONOTONIC` nanoseconds.
  package func step(_ search: inout KeyringSearch, until end: Int64, for caller: Caller) throws(KeyringFault) -> Bool {
    if search.isExact, search.changes == nil { search.changes = followChanges() }
    let isOver = try goOn(&search, until: end, for: caller)
    if isOver { takeChanges(&search, caller) }
    return isOver
  }

  private func goOn(_ search: inout KeyringSearch, until end: Int64, for caller: Caller) throws(KeyringFault) -> Bool {
    guard !hidesItems(in: search.collection) else { throw .isLocked }
    while let id = search.ofSession.popLast() {
      try take(ofSession: id, &search, caller)
      if vault.clock.monotonic() >= end { return search.ofSession.isEmpty && search.queries.isEmpty }
    }
    while let (query, isShared) = search.queries.first {
      let (found, next): ([ItemInfo], SearchPlace?)
      do throws(Refusal) {
        (found, next) = try items.find(query, limit: 256, after: search.place, until: end, for: caller)
      } catch {
        throw KeyringFault(error)
      }
      for item in found { take(item, isShared, &search, caller) }
      search.place = next
      if next == nil { search.queries.removeFirst() }
      if vault.clock.monotonic() >= end { break }
    }
    return search.queries.isEmpty
  }

  /// Looks again at what has changed since a search began.
  private func takeChanges(_ search: inout KeyringSearch, _ caller: Caller) {
    guard let changes = search.changes else { return }
    for path in changes.paths where search.collection == nil || path.collection == search.collection {
      search.own.removeAll { $0.path == path }
      guard path.collection != .shared, let item = known(at: path, for: caller),
        access.decide(.find, item.name, item.policy, for: caller) == .allow
      else { continue }
      if path.collection == .session {
        if let id = KeyringID(path.element) { try? take(ofSession: id, &search, caller) }
      } else {
        take(item, false, &search, caller)
      }
    }
    changes.paths = []
  }

  private func take(_ item: ItemInfo, _ isShared: Bool, _ search: inout KeyringSearch, _ caller: Caller) {
    guard !item.isForPortal, let path = KeyringPath(item, isShared: isShared), has(path.collection) else { return }
    let attributes = Self.attributes(of: item)
    guard search.isExact ? attributes == search.attributes : attributes.contains(search.attributes) else { return }
    let hit = KeyringSearch.Hit(
      path: path, isLocked: isLocked(item, for: caller), order: item.keyring?.order ?? 0)
    guard isShared else {
      if let keychain { remember(path, item.name, keychain) }
      return search.own.append(hit)
    }
    // Two patterns may share one item, and what lies in a collection's own folder is there already.
    guard item.use == nil, CollectionID(of: item.name) == nil, !Records.isRecord(item.name),
      search.sharedPaths.insert(path).inserted
    else { return }
    search.shared.append(hit)
  }
}
