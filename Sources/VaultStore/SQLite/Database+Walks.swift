import VaultCore
import VaultModel

// Walks over whole tables, in their order, for checks and copies. A walk may end anywhere; the next walk begins after
// the last row that this one reached.
extension Database {
  /// A row of the table of heads.
  struct WalkedHead {
    fileprivate let statement: Statement
    /// The item's number.
    let item: Int64

    /// The number of records that the row counts as in a walk, so that a long row uses up as much of a step as several
    /// short ones.
    var weight: Int { statement.weight }
    /// The number of bytes of the row that were read.
    var size: Int { statement.size }

    /// The head, with the current value if the walk reads values too.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` when the row is not a head.
    func row() throws(VaultError) -> Row { try Row(statement) }
  }

  enum Heads {
    /// Heads alone.
    case bare
    /// Heads together with the current values that lie beside them.
    case valued
  }

  /// Walks the heads in rows above `after` until `body` returns false.
  ///
  /// - Returns: true when the walk reached the end of the table.
  /// - Throws: ``VaultError/corrupt(_:)`` when the rows do not ascend, before `body` gets the row that is out of order;
  ///   what `body` throws.
  func walkHeads(
    _ heads: Heads = .bare, after: Int64, _ body: (WalkedHead) throws(VaultError) -> Bool
  ) throws(VaultError) -> Bool {
    let statement =
      switch heads {
      case .bare: statements.heads.all
      case .valued: statements.heads.withValues
      }
    try statement.bind(1, after)
    defer { statement.reset() }
    var last = after
    while try statement.step() {
      let item = try statement.integer(0)
      guard item > last else { throw Self.outOfOrder("heads") }
      last = item
      if try !body(WalkedHead(statement: statement, item: item)) { return false }
    }
    return true
  }

  /// Walks the heads in rows below `before`, the highest first, until `body` returns false or the rows stop descending.
  func walkHeadsBackwards(
    before: Int64, _ body: (WalkedHead) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let statement = statements.heads.backwards
    try statement.bind(1, before)
    defer { statement.reset() }
    var last = before
    while try statement.step() {
      let item = try statement.integer(0)
      guard item < last else { return }
      last = item
      if try !body(WalkedHead(statement: statement, item: item)) { return }
    }
  }

  /// A version of a value that is no longer the current one.
  struct OlderValue {
    fileprivate let statement: Statement
    /// The row of the head that the version belongs to.
    let item: Int64
    let version: Int64

    /// The number of records that the version counts as, as in ``WalkedHead/weight``.
    var weight: Int { statement.weight }
    /// True when the item has a head.
    var hasHead: Bool { !statement.isNull(3) }

    /// The class of the version's item; nil when the head has an unknown class.
    func accessible() throws(VaultError) -> AccessClass? {
      AccessClass(rawValue: UInt8(clamping: try statement.integer(3)))
    }

    /// The columns that the version's value is bound to in that class; nil when the head has no identity.
    func columns(_ accessible: AccessClass) throws(VaultError) -> HeadColumns? {
      guard let identity = try statement.withBlob(5, { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }) else {
        return nil
      }
      return HeadColumns(
        row: item, item: identity, accessible: accessible, revision: 0,
        policyRevision: Int(try statement.integer(4)), current: 0)
    }

    /// Lends the sealed value.
    func withSealed<R: ~Copyable>(_ body: (RawSpan) throws(VaultError) -> R) throws(VaultError) -> R {
      try statement.withBlob(2, body)
    }
  }

  /// Walks the older values of all items, beginning after the item and version in `place`, until `body` returns false.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the values do not ascend; what `body` throws.
  func walkOlderValues(
    after place: (item: Int64, version: Int64), _ body: (OlderValue) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let statement = statements.values.allOlder
    try statement.bind(1, place.item)
    try statement.bind(2, place.version)
    defer { statement.reset() }
    var last = place
    while try statement.step() {
      let value = OlderValue(
        statement: statement, item: try statement.integer(0), version: try statement.integer(1))
      guard (value.item, value.version) > last else { throw Self.outOfOrder("vals") }
      last = (value.item, value.version)
      if try !body(value) { return }
    }
  }

  /// Walks the numbers of an item's older versions above `after`, until `body` returns false.
  ///
  /// - Returns: true when the walk reached the last version.
  func walkOlderVersions(
    of item: Int64, after: Int64, _ body: (Int64) -> Bool
  ) throws(VaultError) -> Bool {
    let statement = statements.values.olderVersions
    try statement.bind(1, item)
    try statement.bind(2, after)
    defer { statement.reset() }
    var last = after
    while try statement.step() {
      let version = try statement.integer(0)
      guard version > last else { throw Self.outOfOrder("vals") }
      last = version
      if !body(version) { return false }
    }
    return true
  }

  /// A row of the table of tags.
  struct WalkedTag {
    fileprivate let statement: Statement
    /// The item that the tag leads to.
    let item: Int64
    /// True when the row before this one has the same tag.
    let isSameTag: Bool

    /// The number of records that the row counts as, as in ``WalkedHead/weight``.
    var weight: Int { statement.weight }

    /// The tag; nil when the bytes do not have the size of a tag.
    func tag() throws(VaultError) -> Tag? {
      try statement.withBlob(0) { (bytes: RawSpan) throws(VaultError) in Tag(bytes) }
    }

    /// The class that the row counts towards; nil when the class is unknown.
    func accessible() throws(VaultError) -> AccessClass? {
      AccessClass(rawValue: UInt8(clamping: try statement.integer(2)))
    }
  }

  /// Walks the rows of tags after `place`, until `body` returns false. `place` moves along.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the rows do not ascend; what `body` throws.
  func walkTags(
    from place: inout TagPlace, _ body: (WalkedTag) throws(VaultError) -> Bool
  ) throws(VaultError) {
    let statement = statements.tags.all
    try statement.bind(1, place.tag)
    try statement.bind(2, place.row)
    defer { statement.reset() }
    while try statement.step() {
      let item = try statement.integer(1)
      let isSameTag = try statement.withBlob(0) { (tag: RawSpan) throws(VaultError) in
        try place.advance(to: tag, item)
      }
      if try !body(WalkedTag(statement: statement, item: item, isSameTag: isSameTag)) { return }
    }
  }

  /// Lends the head of an item as a walk does; nil when the item has none.
  func withWalkedHead<R>(
    _ item: Int64, _ body: (WalkedHead) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try statements.heads.one.bind(1, item)
    return try statements.heads.one.first { (found: Statement) throws(VaultError) in
      try body(WalkedHead(statement: found, item: item))
    }
  }
}
