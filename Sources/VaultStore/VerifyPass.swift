import VaultCore
import VaultModel

/// One check of all records, in steps, so that nobody waits for it.
///
/// First it walks over each table and makes the hashes anew. Where these are the stored ones, every record of the class
/// is exactly the one that was written last, and nothing needs to be opened. Where they are not, or the key is not in
/// memory, a ``Survey`` opens the records to name what is wrong. Changes that are made meanwhile reach it through
/// ``apply(_:)``.
struct VerifyPass {
  private enum Table: Int, Comparable {
    case heads, values, tags, few
    static func < (a: Table, b: Table) -> Bool { a.rawValue < b.rawValue }
  }

  /// Which of the classes' keys were there at every record.
  private(set) var isKeyed = ByClass<Bool>(repeating: true)
  private(set) var verification = Verification()
  private var sets = ByClass<RecordSets>(repeating: RecordSets())
  private var table = Table.heads
  // How far the walk over the present table is.
  private var head = Int64.min
  private var value = (item: Int64.min, version: Int64.min)
  private var tag = TagPlace()
  private let expected: Int
  private var survey: Survey?
  // How many of the items that something is wrong with have a head.
  private var harmed = ByClass<Int64>(repeating: 0)

  /// - Parameter expecting: about how many records there are.
  init(expecting: Int) { expected = expecting }

  /// How far it is.
  var state: IntegrityState { .checking(done: min(verification.records, expected), of: expected) }

  /// The hashes over the records of a class that were met.
  func found(_ accessible: AccessClass) -> RecordSets { sets[accessible] }

  /// Adds what was found elsewhere.
  mutating func note(_ finding: Finding) { verification.add(finding) }

  /// Drops the names of items, which may not be told any more.
  mutating func forgetNames() { verification.forgetNames() }

  /// Goes on over at most so many records; whether that was the end.
  mutating func step(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    let isDone = try advance(keychain, records: records)
    for item in verification.takeNewlyHarmed() {
      if let accessible = try keychain.database.headClass(item) { harmed[accessible] += 1 }
    }
    if isDone {
      for accessible in AccessClass.allCases where !verification.unchecked.contains(accessible) {
        let heads = sets[accessible][.init(.heads)].count
        verification.unharmed += Int(clamping: max(0, heads - harmed[accessible]))
      }
    }
    return isDone
  }

  private mutating func advance(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    if var survey {
      defer { self.survey = survey }
      let isDone = try survey.walk(keychain, records: records, &verification)
      if isDone { survey.conclude(&verification) }
      return isDone
    }
    guard try walk(keychain, records: records) else { return false }
    do throws(VaultError) { try walkFewRows(keychain) } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, reason))
    }
    survey = try compare(keychain)
    return survey == nil
  }

  // MARK: The walk

  /// Walks over heads, values and tags; whether that was the last record.
  mutating func walk(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    var left = Self.unforeseeable(records)
    while left > 0, table != .few {
      do throws(VaultError) {
        switch table {
        case .heads: try walkHeads(keychain, &left)
        case .values: try walkValues(keychain, &left)
        case .tags: try walkTags(keychain, &left)
        case .few: break
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
    return table == .few
  }

  /// At least half of so many records.
  ///
  /// Between two steps the walk finds its place by the last key. Pages can be laid so that some are skipped right there, and
  /// are still what a request comes to; a walk that goes on in one breath meets them and finds them out of order. So nobody
  /// may know where a step ends.
  private static func unforeseeable(_ records: Int) -> Int {
    records - Int(RandomBytes.uniform(below: UInt32(clamping: records / 2)))
  }

  private mutating func next() { table = Table(rawValue: table.rawValue + 1) ?? .few }

  private static func name(_ table: Table) -> String {
    switch table {
    case .heads: "the table of heads"
    case .values: "the table of older values"
    case .tags: "the table of tags"
    case .few: "a table"
    }
  }

  // Each of them puts together what it meets, because a look at the sets costs as much as a small hash.

  private mutating func walkHeads(_ keychain: Keychain, _ left: inout Int) throws(VaultError) {
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
      left -= 2
      verification.records += 2
      let next = try statement.integer(0)
      guard next > head else { throw Database.outOfOrder("heads") }
      head = next
      let row: Row
      do throws(VaultError) { row = try Row(statement) } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, item: head, reason))
        continue
      }
      try checkName(row, keychain)
      guard isHashed(row.columns.accessible, keychain) else { continue }
      let mark = try row.withSealedHead { (sealed: RawSpan) throws(VaultError) in
        try keychain.mark(row.columns, head: sealed)
      }
      found[row.columns.accessible].insert(mark)
      let digest = try row.withSealedValue { (sealed: RawSpan) throws(VaultError) in Self.digest(of: sealed, &left) }
      values[row.columns.accessible].insert(
        try keychain.mark(row.columns, version: row.columns.current, digest))
    }
  }

  private mutating func merge(_ found: ByClass<RecordSet>, _ table: AssociatedData.Table) {
    for accessible in AccessClass.allCases where found[accessible] != RecordSet() {
      sets[accessible][.init(table)].merge(found[accessible])
    }
  }

  private mutating func walkValues(_ keychain: Keychain, _ left: inout Int) throws(VaultError) {
    let statement = keychain.database.statements.olderValues
    try statement.bind(1, value.item)
    try statement.bind(2, value.version)
    var found = ByClass<RecordSet>(repeating: RecordSet())
    defer {
      statement.reset()
      merge(found, .values)
    }
    while left > 0, try statement.step() {
      left -= 1
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
      let digest = try statement.withBlob(2) { (sealed: RawSpan) throws(VaultError) in Self.digest(of: sealed, &left) }
      found[accessible].insert(try keychain.mark(columns, version: Int(version), digest))
    }
  }

  /// A value's digest; for a long one, which takes longer than other records, fewer records are left.
  private static func digest(of sealed: RawSpan, _ left: inout Int) -> Digest {
    left -= sealed.byteCount / 4096
    return Digest(of: sealed)
  }

  private mutating func walkTags(_ keychain: Keychain, _ left: inout Int) throws(VaultError) {
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
      left -= 1
      verification.records += 1
      try place.advance(to: statement)
      let item = place.row
      let tag = try statement.withBlob(0) { (bytes: RawSpan) throws(VaultError) in Tag(bytes) }
      guard let tag, let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(2))) else {
        verification.add(Finding(.damaged, item: item, "a tag that leads to item \(item) is none of ours"))
        continue
      }
      guard isHashed(accessible, keychain) else { continue }
      found[accessible].insert(try keychain.mark(tag, row: item, accessible))
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
  private mutating func isHashed(_ accessible: AccessClass, _ keychain: Keychain) -> Bool {
    if isKeyed[accessible], !keychain.holdsIntegrityKey(accessible) { isKeyed[accessible] = false }
    return isKeyed[accessible]
  }

  /// Takes a committed transaction's changes into account: those that lie where the walk has been.
  mutating func apply(_ changes: RecordChanges) {
    guard survey == nil else { return }
    for change in changes.list where hasPassed(change.key) {
      switch change.kind {
      case .insert: sets[change.accessible][change.place].insert(change.mark)
      case .remove: sets[change.accessible][change.place].remove(change.mark)
      }
    }
  }

  private func hasPassed(_ key: RecordKey) -> Bool {
    switch key {
    case .head(let row): table > .heads || table == .heads && row <= head
    case .value(let row, let version): table > .values || table == .values && (row, version) <= value
    case .tag(let tag, let row): table > .tags || table == .tags && self.tag.isAtOrAfter(tag, row)
    case .single: false
    }
  }

  // MARK: The comparison

  /// Compares with what is stored; what has to be surveyed, nil when all is well.
  private mutating func compare(_ keychain: Keychain) throws(VaultError) -> Survey? {
    var survey = Survey()
    for accessible in AccessClass.allCases {
      guard isHashed(accessible, keychain) else {
        verification.unchecked.append(accessible)
        // What can be told without the hashes.
        if keychain.opensNames(of: accessible) { survey.add(accessible, nil, sets[accessible]) }
        continue
      }
      do throws(VaultError) {
        let stored = try keychain.classRecord(accessible).sets
        guard stored != sets[accessible] else { continue }
        guard compareFewRows(stored, sets[accessible]) else { continue }
        verification.changed.append(accessible)
        survey.add(accessible, stored, sets[accessible])
      } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, reason))
        verification.changed.append(accessible)
        survey.add(accessible, nil, sets[accessible])
      }
    }
    return survey.isEmpty ? nil : survey
  }

  /// Whether anything but the tables of a few rows differs.
  private mutating func compareFewRows(_ stored: RecordSets, _ found: RecordSets) -> Bool {
    var others = false
    for place in Set(stored.places + found.places).sorted() where stored[place] != found[place] {
      guard let subject = Self.subject(of: place) else {
        others = true
        continue
      }
      if found[place].count < stored[place].count {
        verification.add(Finding(.missing, "\(subject) is missing"))
      } else if stored[place].count < found[place].count {
        verification.add(Finding(.foreign, "\(subject) was put in by somebody else"))
      } else {
        verification.add(Finding(.damaged, "\(subject) is not the one that was stored last"))
      }
    }
    return others
  }

  /// What a row of a table of a few rows is called; nil for a place of many rows.
  static func subject(of place: RecordSets.Place) -> String? {
    switch place.table {
    case .slots: "slot \(place.part)"
    case .keys: "the wrapped key \(KeyName.name(part: place.part))"
    case .meta: "the next vault key"
    default: nil
    }
  }

  // MARK: Names in two classes

  /// What is wrong with an item that has the name of one of a stronger class.
  static func namesake(_ item: Int64) -> String {
    "item \(item) has the name of an item of a stronger class, which is the one that is served"
  }

  /// Looks whether an item has the name of one of a stronger class: no item gets it so here, but whoever has the key of
  /// the weaker class can make one.
  private mutating func checkName(_ row: Row, _ keychain: Keychain) throws(VaultError) {
    let (item, accessible) = (row.columns.row, row.columns.accessible)
    guard keychain.opensNames(of: accessible), accessible.stronger.contains(where: keychain.opensNames) else { return }
    let scratch = keychain.takeScratch()
    defer { keychain.giveBack(scratch) }
    let head: HeadRecord
    do throws(VaultError) { head = try keychain.openHead(row, scratch) } catch .corrupt(let reason) {
      return verification.add(Finding(.damaged, item: item, reason))
    }
    for stronger in accessible.stronger {
      guard let tag = keychain.tag(.name(head.item.name), stronger) else { continue }
      if try keychain.database.count(tagged: ClassTags(tag, stronger), limit: 1) > 0 {
        verification.add(Finding(.foreign, item: item, name: head.item.name, Self.namesake(item)))
      }
    }
  }
}
