import VaultCore
import VaultModel

/// The second stage of a check: walks over each table and makes the hashes anew.
///
/// Changes that are made meanwhile reach it through ``apply(_:)``.
struct RecordWalk {
  private enum Table: Int, Comparable {
    case heads, values, tags, end
    static func < (a: Table, b: Table) -> Bool { a.rawValue < b.rawValue }
  }

  /// Which of the classes' keys were there at every record.
  private(set) var isKeyed = ByClass<Bool>(repeating: true)
  /// The hashes over the records of each class that were met.
  private(set) var sets = ByClass<RecordSets>(repeating: RecordSets())
  private var told = ToldRecords()
  private var table = Table.heads
  // How far it is in the present table.
  private var head = Int64.min
  private var value = (item: Int64.min, version: Int64.min)
  private var tag = TagPlace()
  private var tagClass: AccessClass?

  /// Goes on as far as `left` records last, which go down, by more than one where a row is long; whether that was the last
  /// record of heads, values and tags.
  mutating func step(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    while left > 0, table != .end {
      do throws(VaultError) {
        switch table {
        case .heads: try walkHeads(keychain, &left, &verification)
        case .values: try walkValues(keychain, &left, &verification)
        case .tags: try walkTags(keychain, &left, &verification)
        case .end: break
        }
      } catch .corrupt(let reason) {
        // The tree of pages is damaged: what comes after cannot be reached.
        verification.add(Finding(.damaged, "\(Self.name(table)) cannot be read on: \(reason)"))
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
    case .end: "a table"
    }
  }

  // Each of them puts together what it meets, because a look at the sets costs as much as a small hash.

  private mutating func walkHeads(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    let statement = keychain.database.statements.headsWithValues
    try statement.bind(1, head)
    var found = ByClass<RecordSet>(repeating: RecordSet())
    var values = ByClass<RecordSet>(repeating: RecordSet())
    defer {
      statement.reset()
      merge(found, .heads)
      merge(values, .values)
    }
    while left > 0, try statement.step() {
      left -= 1 + statement.weight
      verification.records += 2
      let next = try statement.integer(0)
      guard next > head else { throw Database.outOfOrder("heads") }
      head = next
      let row: Row
      do throws(VaultError) { row = try Row(statement) } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, item: head, reason))
        continue
      }
      try lookInto(row, keychain, &left, &verification)
      guard isHashed(row.columns.accessible, keychain) else { continue }
      let mark = try row.withSealedHead { (sealed: RawSpan) throws(VaultError) in
        try keychain.mark(row.columns, head: sealed)
      }
      found[row.columns.accessible].insert(mark)
      let digest = try row.withSealedValue { (sealed: RawSpan) throws(VaultError) in Digest(of: sealed) }
      let value = try keychain.mark(row.columns, version: row.columns.current, digest)
      values[row.columns.accessible].insert(value)
      told.meet(value, row: head, row.columns.accessible)
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
    let statement = keychain.database.statements.olderValues
    try statement.bind(1, value.item)
    try statement.bind(2, value.version)
    var found = ByClass<RecordSet>(repeating: RecordSet())
    defer {
      statement.reset()
      merge(found, .values)
    }
    while left > 0, try statement.step() {
      left -= statement.weight
      verification.records += 1
      let (item, version) = (try statement.integer(0), try statement.integer(1))
      guard (item, version) > value else { throw Database.outOfOrder("vals") }
      value = (item, version)
      if statement.isNull(3) {
        verification.add(
          Finding(.foreign, item: item, "version \(version) of item \(item) is there, but no head of that item"))
        continue
      }
      // A head of an unknown class, or without an identity, was found already.
      guard let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(3))) else { continue }
      guard isHashed(accessible, keychain) else { continue }
      guard let identity = try statement.withBlob(5, { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }) else {
        continue
      }
      let columns = HeadColumns(
        row: item, item: identity, accessible: accessible, revision: 0,
        policyRevision: Int(try statement.integer(4)), current: 0)
      let digest = try statement.withBlob(2) { (sealed: RawSpan) throws(VaultError) in Digest(of: sealed) }
      let mark = try keychain.mark(columns, version: Int(version), digest)
      found[accessible].insert(mark)
      told.meet(mark, row: item, accessible)
    }
  }

  private mutating func walkTags(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    let statement = keychain.database.statements.allTags
    try statement.bind(1, tag.tag)
    try statement.bind(2, tag.row)
    var found = ByClass<RecordSet>(repeating: RecordSet())
    var place = tag
    defer {
      statement.reset()
      tag = place
      merge(found, .tags)
    }
    while left > 0, try statement.step() {
      left -= statement.weight
      verification.records += 1
      let isSameTag = try place.advance(to: statement)
      let item = place.row
      let tag = try statement.withBlob(0) { (bytes: RawSpan) throws(VaultError) in Tag(bytes) }
      guard let tag, let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(2))) else {
        verification.add(Finding(.damaged, item: item, "a tag that leads to item \(item) is none of ours"))
        tagClass = nil
        continue
      }
      if isSameTag, tag.isOfName, tagClass == accessible,
        // The one before may have gone between two steps.
        try keychain.database.count(tagged: ClassTags(tag, accessible), limit: 2) > 1
      {
        verification.add(Finding(.foreign, item: item, "item \(item) shares its name with another"))
      }
      tagClass = accessible
      guard isHashed(accessible, keychain) else { continue }
      let mark = try keychain.mark(tag, row: item, accessible)
      found[accessible].insert(mark)
      told.meet(mark, row: item, accessible)
    }
  }

  /// Takes in the tables of a few rows, at once.
  mutating func walkFewRows(_ keychain: Keychain) throws(VaultError) {
    let (slots, keys) = (try keychain.database.slots(), try keychain.database.keys())
    let rekeying = try keychain.database.meta(MetaName.rekeying)
    for accessible in AccessClass.allCases where isHashed(accessible, keychain) {
      for (id, record) in slots {
        sets[accessible][Keychain.place(slot: id)].insert(try keychain.mark(slot: id, record, accessible))
      }
      for (name, sealed) in keys {
        sets[accessible][Keychain.place(key: name)].insert(try keychain.mark(key: name, sealed, accessible))
      }
      if let rekeying {
        sets[accessible][Keychain.rekeyingPlace].insert(try keychain.mark(rekeying: rekeying, accessible))
      }
    }
  }

  /// Whether a class is checked. One whose key was wiped meanwhile is not any more.
  mutating func isHashed(_ accessible: AccessClass, _ keychain: Keychain) -> Bool {
    if isKeyed[accessible], !keychain.holdsIntegrityKey(accessible) { isKeyed[accessible] = false }
    return isKeyed[accessible]
  }

  /// Takes a committed transaction's changes into account: those that lie where the walk has been.
  mutating func apply(_ changes: RecordChanges) {
    for change in changes.list {
      let isMet = hasPassed(change.key)
      if isMet { change.apply(to: &sets[change.accessible][change.place]) }
      switch change.place.table {
      case .values, .tags: told.apply(change, isTold: hasPassedHead(of: change.key), isMet: isMet)
      default: break
      }
    }
  }

  /// Whether the head of the item that a record belongs to lies where the walk has been.
  private func hasPassedHead(of key: RecordKey) -> Bool {
    key.row.map { table > .heads || $0 <= head } ?? false
  }

  private func hasPassed(_ key: RecordKey) -> Bool {
    switch key {
    case .head(let row): table > .heads || table == .heads && row <= head
    case .value(let row, let version): table > .values || table == .values && (row, version) <= value
    case .tag(let tag, let row): table > .tags || table == .tags && self.tag.isAtOrAfter(tag, row)
    case .single: false
    }
  }

  // MARK: What heads tell

  /// Whether the values and tags of a class are those that its heads tell of; true in the strongest one.
  func isAsTold(_ accessible: AccessClass) -> Bool { told.agree(accessible) }

  /// Opens the head and the current value of an item of any but the strongest class, to take in what it tells of and to look
  /// at its name.
  ///
  /// The hashes of such a class fit whatever somebody counts who has its key and not those of the stronger ones. That may be
  /// rows that stand in the way of items of these, or a value that nobody can read, at which a rekey would end.
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

  /// Opens the value beside a head, where there is a key for that.
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

  /// What is wrong with an item that has the name of one of a stronger class.
  static func namesake(_ item: Int64) -> String {
    "item \(item) has the name of an item of a stronger class, which is the one that is served"
  }

  /// Looks whether an item has the name of one of a stronger class: no item gets it so here, but whoever has the key of
  /// the weaker class can make one.
  private static func checkName(
    _ head: HeadRecord, _ row: Row, _ keychain: Keychain, _ verification: inout Verification
  ) throws(VaultError) {
    let item = row.columns.row
    for stronger in row.columns.accessible.stronger {
      guard let tag = keychain.tag(.name(head.item.name), stronger) else { continue }
      if try keychain.database.count(tagged: ClassTags(tag, stronger), limit: 1) > 0 {
        verification.add(Finding(.foreign, item: item, name: head.item.name, namesake(item)))
      }
    }
  }
}
