import VaultCore
public import VaultModel

// The search for items.
extension Keychain {
  /// The approximate limit on the bytes of names and attributes in a page, with those of keyrings' clients: one item
  /// may have many more than usual.
  public static let pageBytes = 64 << 10
  /// The number of bytes that each attribute of a keyring's clients counts as, besides its own: an item can have 256 of
  /// them, and a message has room for only so many parts.
  private static let pageAttribute = 32

  /// The number of bytes that an item counts as in a page.
  public static func pageBytes(of item: ItemInfo) -> Int {
    let own = item.attributes.reduce(item.name.text.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return own + (item.keyring.map { $0.textBytes + $0.attributes.entries.count * pageAttribute } ?? 0)
  }

  /// The number of a query's predicates that are compared to find the most selective one.
  private static let comparedFacts = 8
  /// The limits up to which candidates are counted. The higher limit applies only if no predicate has fewer candidates
  /// than the lower limit.
  private static let countedTags = [16, 1000]

  /// Returns one page of the items that match a query, in the order in which the items were first stored.
  ///
  /// A name, an attribute's value, a folder or a kind in the query is looked up through its tag, and so are a keyring
  /// number and the attributes of a keyring's clients; other queries walk all items. A page ends after `limit` matches,
  /// after `examining` items, when `isTimeUp` returns true, or when its items count as more than `bytes`
  /// (``pageBytes(of:)``), so that no call takes long. A page can have few items or none and still a `next`, but it
  /// advances by at least one item. Items of classes whose names cannot be read now are left out; see
  /// ``knowsAllNames``.
  /// - Parameters:
  ///   - area: the part of the vault in which the search looks. The cost of a search in a folder or by a name depends
  ///     on the number of items there, whatever the query and whatever else the vault has. A search over everything may
  ///     be narrowed by the query.
  ///   - after: the `next` of the previous page; nil for the first page.
  ///   - now: Unix seconds. The query's times are compared with this time, or with the newest time of any write of an
  ///     item's class, if that is later.
  ///   - decide: called with each item that matches. An item that it does not allow is left out as if it did not exist.
  ///   - isPassedOver: called with the number of each item. If it returns true, the item is left out without being
  ///     opened.
  ///   - isTimeUp: called after each item, and after each tag that leads to no item.
  /// - Returns: the items, and the `after` for the next page; nil when this page is the last.
  /// - Throws: ``VaultError/locked`` when no names can be read at all; ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``. A faulty item is left out, and ``integrity`` fails.
  public func find(
    _ query: Query, in area: SearchArea = .everything, limit: Int, after: Int64? = nil, now: Int64,
    examining: Int = 1024, bytes: Int = pageBytes,
    if decide: (ItemInfo) -> Decision = { _ in .allow }, isPassedOver: (Int64) -> Bool = { _ in false },
    isTimeUp: () -> Bool = { false }
  ) throws(VaultError) -> (items: [ItemInfo], next: Int64?) {
    try noticing { () throws(VaultError) in
      try page(query, area, limit, after, now, examining, bytes, decide, isPassedOver, isTimeUp)
    }
  }

  private func page(
    _ query: Query, _ area: SearchArea, _ limit: Int, _ after: Int64?, _ now: Int64, _ examining: Int,
    _ most: Int, _ decide: (ItemInfo) -> Decision, _ isPassedOver: (Int64) -> Bool, _ isTimeUp: () -> Bool
  ) throws(VaultError) -> (items: [ItemInfo], next: Int64?) {
    var items: [ItemInfo] = []
    var last = after ?? 0
    var examined = 0
    var bytes = 0
    var isOver = false
    var isLast = true
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    let index = try narrowest(query, area)
    // True when a row belongs to this page. A page does not end between two tags that lead to the same row, because the
    // next page begins after that row.
    let advance = { (row: Int64) -> Bool in
      if row > last, isOver || items.count >= max(1, limit) || examined >= max(1, examining) {
        isLast = false
        return false
      }
      last = row
      examined += 1
      return true
    }
    let visit = { (item: Int64, row: Result<Row, VaultError>) throws(VaultError) -> Bool in
      guard advance(item) else { return false }
      defer { isOver = isTimeUp() || bytes > most }
      if isPassedOver(item) { return true }
      do throws(VaultError) {
        guard let found = try self.open(row.get(), index, scratch) else { return true }
        if query.matches(found, now: self.effective(now, found.policy.accessible)), decide(found) == .allow {
          items.append(found)
          bytes += Self.pageBytes(of: found)
        }
      } catch .corrupt(let reason) {
        // Neither a damaged row nor one that somebody has inserted keeps a search from the other items.
        self.notice(.corrupt(reason))
      }
      return true
    }
    if let index {
      // A stray tag takes time, too.
      let pass = { (row: Int64) -> Bool in
        guard advance(row) else { return false }
        isOver = isOver || isTimeUp()
        return true
      }
      try database.each(tagged: index.tags, after: last, notice: notice, passing: pass, visit)
    } else {
      try database.each(after: last, visit)
    }
    return (items, isLast ? nil : last)
  }

  /// The item of a row that a search reaches; nil when its name cannot be read now.
  private func open(
    _ row: Row, _ index: (fact: Fact, tags: ClassTags)?, _ scratch: Scratch
  ) throws(VaultError) -> ItemInfo? {
    guard opensNames(of: row.columns.accessible) else { return nil }
    let head = try openHead(row, scratch)
    if let index { try check(row, head, index.fact, index.tags) }
    return head.item
  }

  /// The fact of the area, or else the fact of the query with the fewest candidates; nil when neither has a fact that
  /// has a tag.
  private func narrowest(_ query: Query, _ area: SearchArea) throws(VaultError) -> (fact: Fact, tags: ClassTags)? {
    guard AccessClass.allCases.contains(where: opensNames) else { throw .locked }
    if query.isOfTrash { return (.trash, try tags(.trash)) }
    switch area {
    case .name(let name): return (.name(name), try tags(.name(name)))
    case .folder(let folder): return (.folder(folder), try tags(.folder(folder)))
    case .everything: break
    }
    if let name = query.exactName { return (.name(name), try tags(.name(name))) }
    if let id = query.keyringID { return (.keyringID(id), try tags(.keyringID(id))) }
    var facts = query.equalities.map { Fact.attribute($0.key, $0.value) }
    facts += query.keyringAttributes.map { .keyringAttribute($0.key, $0.value) }
    if let folder = query.folder { facts.append(.folder(folder)) }
    if let kind = query.kind { facts.append(.kind(kind)) }
    return try mostSelective(facts)
  }

  /// The fact with the fewest candidates; nil when there is none.
  private func mostSelective(_ facts: [Fact]) throws(VaultError) -> (fact: Fact, tags: ClassTags)? {
    var candidates: [(fact: Fact, tags: ClassTags)] = []
    for limit in Self.countedTags {
      var (best, least) = (0, limit)
      for (index, fact) in facts.prefix(Self.comparedFacts).enumerated() {
        if index == candidates.count { candidates.append((fact, try tags(fact))) }
        guard facts.count > 1 else { break }
        // Counting stops at the fewest candidates so far.
        let count = try database.count(tagged: candidates[index].tags, limit: least)
        if count < least { (best, least) = (index, count) }
        if least <= 1 { break }
      }
      if least < limit { return candidates[best] }
    }
    return candidates.first
  }

  /// The number of items in a folder and the folders within it, counted up to `limit` without reading them.
  ///
  /// - Throws: ``VaultError/locked`` if no class's names can be read; the items of a class whose names cannot be read
  ///   are not counted.
  public func count(within folder: String, limit: Int) throws(VaultError) -> Int {
    guard AccessClass.allCases.contains(where: opensNames) else { throw .locked }
    return try database.count(tagged: try tags(.folder(folder)), limit: limit)
  }
}
