import VaultCore
import VaultModel

/// The second stage of a check, which walks over each table and computes the hashes again.
///
/// Changes that are made during the walk are passed to ``apply(_:)``.
struct RecordWalk {
  private enum Table: Int, Comparable {
    case heads, values, tags, deposits, grants, end
    static func < (a: Table, b: Table) -> Bool { a.rawValue < b.rawValue }
  }

  /// The classes whose keys were in memory at every record so far.
  private(set) var isKeyed = ByClass<Bool>(repeating: true)
  /// The hashes over the records of each class that the walk has read.
  var sets = ByClass<RecordSets>(repeating: RecordSets())
  /// The parts of the tables with few rows that could not be read.
  var unread = UnreadRows()
  private var told = ToldRecords()
  private var table = Table.heads
  // The last row that was read in each table.
  private var head = Int64.min
  private var value = (item: Int64.min, version: Int64.min)
  private var tag = TagPlace()
  var deposit = Database.RowPlace()
  var grant = Database.RowPlace()
  private var tagClass: AccessClass?

  /// Continues for up to `left` records, which it subtracts from `left`; a long row counts as several. True after the
  /// last record of these tables.
  mutating func step(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    while left > 0, table != .end {
      do throws(VaultError) {
        switch table {
        case .heads: try walkHeads(keychain, &left, &verification)
        case .values: try walkValues(keychain, &left, &verification)
        case .tags: try walkTags(keychain, &left, &verification)
        case .deposits: try walkDeposits(keychain, &left, &verification)
        case .grants: try walkGrants(keychain, &left, &verification)
        case .end: break
        }
      } catch .corrupt(let reason) {
        // The tree of pages is damaged, so the rows after this place cannot be reached.
        verification.add(Finding(.damaged, "\(Self.name(table)) cannot be read any further: \(reason)"))
        if let table = Self.judged(table) { unread.insert(table) }
        left = max(left, 1)
        next()
        continue
      }
      if left > 0 { next() }
    }
    return table == .end
  }

  private mutating func next() { table = Table(rawValue: table.rawValue + 1) ?? .end }

  private static func name(_ table: Table) -> String {
    switch table {
    case .heads: "the table of heads"
    case .values: "the table of older values"
    case .tags: "the table of tags"
    case .deposits: "the table of deposits"
    case .grants: "the table of grants"
    case .end: "a table"
    }
  }

  /// The table in which each row is a finding of its own; nil for the others.
  private static func judged(_ table: Table) -> AssociatedData.Table? {
    switch table {
    case .deposits: .deposits
    case .grants: .grants
    case .heads, .values, .tags, .end: nil
    }
  }

  // Each walk collects the marks of its rows in sets of its own and merges them into `sets` at its end, because each
  // access to `sets` costs as much as a small hash.

  private mutating func walkHeads(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    var found = ByClass<RecordSet>(repeating: RecordSet())
    var values = ByClass<RecordSet>(repeating: RecordSet())
    defer {
      merge(found, .heads)
      merge(values, .values)
    }
    _ = try keychain.database.walkHeads(.valued, after: head) { (walked: Database.WalkedHead) throws(VaultError) in
      left -= 1 + walked.weight
      verification.records += 2
      head = walked.item
      let row: Row
      do throws(VaultError) { row = try walked.row() } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, item: head, reason))
        return left > 0
      }
      try lookInto(row, keychain, &left, &verification)
      guard isHashed(row.columns.accessible, keychain) else { return left > 0 }
      let mark = try row.withSealedHead { (sealed: RawSpan) throws(VaultError) in
        try keychain.mark(row.columns, head: sealed)
      }
      found[row.columns.accessible].insert(mark)
      let digest = try row.withSealedValue { (sealed: RawSpan) throws(VaultError) in Digest(of: sealed) }
      let value = try keychain.mark(row.columns, version: row.columns.current, digest)
      values[row.columns.accessible].insert(value)
      told.meet(value, row: head, row.columns.accessible)
      return left > 0
    }
  }

  private mutating func merge(_ found: ByClass<RecordSet>, _ table: AssociatedData.Table) {
    for accessible in AccessClass.allCases where found[accessible] != RecordSet() {
      sets[accessible][.init(table)].merge(found[accessible])
    }
  }

  private mutating func walkValues(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    var found = ByClass<RecordSet>(repeating: RecordSet())
    defer { merge(found, .values) }
    try keychain.database.walkOlderValues(after: value) { (met: Database.OlderValue) throws(VaultError) in
      left -= met.weight
      verification.records += 1
      let (item, version) = (met.item, met.version)
      value = (item, version)
      guard met.hasHead else {
        verification.add(
          Finding(.foreign, item: item, "version \(version) of item \(item) is there, but its item has no head"))
        return left > 0
      }
      // A head of an unknown class or without an identity was reported already.
      guard let accessible = try met.accessible(), isHashed(accessible, keychain),
        let columns = try met.columns(accessible)
      else { return left > 0 }
      let digest = try met.withSealed { (sealed: RawSpan) throws(VaultError) in Digest(of: sealed) }
      let mark = try keychain.mark(columns, version: Int(version), digest)
      found[accessible].insert(mark)
      told.meet(mark, row: item, accessible)
      return left > 0
    }
  }

  private mutating func walkTags(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    var found = ByClass<RecordSet>(repeating: RecordSet())
    var place = tag
    defer {
      tag = place
      merge(found, .tags)
    }
    try keychain.database.walkTags(from: &place) { (met: Database.WalkedTag) throws(VaultError) in
      left -= met.weight
      verification.records += 1
      let item = met.item
      guard let tag = try met.tag(), let accessible = try met.accessible() else {
        verification.add(Finding(.damaged, item: item, "a tag that leads to item \(item) was not written by vault"))
        tagClass = nil
        return left > 0
      }
      if met.isSameTag, tag.isOfName, tagClass == accessible,
        // The row before this one may have been removed between two steps.
        try keychain.database.count(tagged: ClassTags(tag, accessible), limit: 2) > 1
      {
        verification.add(Finding(.foreign, item: item, "item \(item) shares its name with another"))
      }
      tagClass = accessible
      guard isHashed(accessible, keychain) else { return left > 0 }
      let mark = try keychain.mark(tag, row: item, accessible)
      found[accessible].insert(mark)
      told.meet(mark, row: item, accessible)
      return left > 0
    }
  }

  /// True when a class is being checked. A class whose key was wiped meanwhile is not checked any more.
  mutating func isHashed(_ accessible: AccessClass, _ keychain: Keychain) -> Bool {
    if isKeyed[accessible], !keychain.holdsIntegrityKey(accessible) { isKeyed[accessible] = false }
    return isKeyed[accessible]
  }

  /// Counts those changes of a committed transaction that lie in the part that the walk has passed.
  mutating func apply(_ changes: RecordChanges) {
    for change in changes.list {
      let isMet = hasPassed(change.key)
      if isMet { change.apply(to: &sets[change.accessible][change.place]) }
      switch change.place.table {
      case .values, .tags: told.apply(change, isTold: hasPassedHead(of: change.key), isMet: isMet)
      case .heads, .keys, .slots, .hashes, .meta, .grants, .deposits, .audit: break
      }
    }
  }

  /// True when the head of the item that a record belongs to lies in the part that the walk has passed.
  private func hasPassedHead(of key: RecordKey) -> Bool {
    key.row.map { table > .heads || $0 <= head } ?? false
  }

  private func hasPassed(_ key: RecordKey) -> Bool {
    switch key {
    case .head(let row): table > .heads || table == .heads && row <= head
    case .value(let row, let version): table > .values || table == .values && (row, version) <= value
    case .tag(let tag, let row): table > .tags || table == .tags && self.tag.isAtOrAfter(tag, row)
    case .deposit(let number): table > .deposits || table == .deposits && deposit.hasPassed(number)
    case .grant(let number): table > .grants || table == .grants && grant.hasPassed(number)
    case .single: false
    }
  }

  // MARK: The records that heads name

  /// True when the values and tags of a class are those that its heads name; always true for the strongest class.
  func isAsTold(_ accessible: AccessClass) -> Bool { told.agree(accessible) }

  /// Opens the head and the current value of an item, to count the records that the head names and to check the item's
  /// name. Items of the strongest class are not opened.
  ///
  /// Somebody who has the key of a weaker class, and not the keys of the stronger classes, can write records that the
  /// hashes of the weaker class match. Such records may be rows that stand in the way of items of the stronger classes,
  /// or a value that nobody can read, at which a rekey would fail.
  private mutating func lookInto(
    _ row: Row, _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    let (item, accessible) = (row.columns.row, row.columns.accessible)
    guard ToldRecords.covers(accessible), isHashed(accessible, keychain), keychain.opensNames(of: accessible) else {
      return
    }
    let scratch = keychain.takeScratch()
    defer { keychain.giveBack(scratch) }
    let head: HeadRecord
    do throws(VaultError) { head = try keychain.openHead(row, scratch) } catch .corrupt(let reason) {
      return verification.add(Finding(.damaged, item: item, reason))
    }
    let tags = try keychain.tags(of: head.item)
    for (version, digest) in zip(head.item.versions, head.digests) {
      told.tell(try keychain.mark(row.columns, version: version.number, digest), row: item, accessible)
    }
    for tag in tags { told.tell(try keychain.mark(tag, row: item, accessible), row: item, accessible) }
    left -= head.digests.count + tags.count
    try Self.checkName(head, row, keychain, &verification)
    do throws(VaultError) { try Self.checkValue(head, row, keychain, scratch, &left) } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, item: item, name: head.item.name, reason))
    }
  }

  /// Opens the value beside a head, if the key for it is in memory.
  private static func checkValue(
    _ head: HeadRecord, _ row: Row, _ keychain: Keychain, _ scratch: Scratch, _ left: inout Int
  ) throws(VaultError) {
    guard keychain.opensValues(of: row.columns.accessible) else { return }
    guard let (info, digest) = head.version(row.columns.current) else {
      throw Keychain.missingValue(row.columns.current, row.columns.row)
    }
    try row.withSealedValue { (sealed: RawSpan) throws(VaultError) in
      left -= sealed.byteCount / 4096
      try keychain.open(sealed, row.columns, info, digest, scratch)
    }
  }

  /// The text of the finding about an item that has the name of an item of a stronger class.
  static func namesake(_ item: Int64) -> String {
    "item \(item) has the name of an item of a stronger class, which is the one that is served"
  }

  /// Checks whether an item has the name of an item of a stronger class. This program makes no such item, but whoever
  /// has the key of the weaker class can.
  private static func checkName(
    _ head: HeadRecord, _ row: Row, _ keychain: Keychain, _ verification: inout Verification
  ) throws(VaultError) {
    let item = row.columns.row
    if head.item.trashed != nil { return }
    for stronger in row.columns.accessible.stronger {
      guard let tag = keychain.tag(.name(head.item.name), stronger) else { continue }
      if try keychain.database.count(tagged: ClassTags(tag, stronger), limit: 1) > 0 {
        verification.add(Finding(.foreign, item: item, name: head.item.name, namesake(item)))
      }
    }
  }
}
