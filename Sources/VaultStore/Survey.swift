import VaultCore
import VaultModel

/// The part of a check that names what is wrong: it opens the heads of some classes and holds the values and tags against
/// them.
struct Survey {
  private struct Subject {
    let stored: RecordSets?
    let found: RecordSets
  }

  private var subjects: [AccessClass: Subject] = [:]
  private var head: Int64? = Int64.min
  // Nil between two items.
  private var item: ItemSurvey?
  private var tag = TagPlace()
  // The classes of which a head, a value or a tag is named as wrong, so that not everything is left to tell.
  private var named: Set<AccessClass> = []

  /// Whether there is nothing to look at.
  var isEmpty: Bool { subjects.isEmpty }

  /// Has a class looked at.
  ///
  /// - Parameters:
  ///   - stored: the hashes that are stored; nil when they cannot be told.
  ///   - found: the hashes over what is there.
  mutating func add(_ accessible: AccessClass, _ stored: RecordSets?, _ found: RecordSets) {
    subjects[accessible] = Subject(stored: stored, found: found)
  }

  /// Goes on over at most so many records, where a long one counts for several; whether that was the end.
  mutating func walk(
    _ keychain: Keychain, records: Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    var left = records
    do throws(VaultError) {
      if head != nil { try walkHeads(keychain, &left, &verification) }
      guard left > 0 else { return false }
      head = nil
      try walkTags(keychain, &left, &verification)
    } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, reason))
      if head == nil { return true }
      head = nil
      return false
    }
    return left > 0
  }

  // MARK: Heads and values

  private mutating func walkHeads(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    try finishItem(keychain, &left, &verification)
    guard left > 0 else { return }
    let statement = keychain.database.statements.heads
    try statement.bind(1, head ?? Int64.min)
    defer { statement.reset() }
    while left > 0, try statement.step() {
      left -= statement.weight
      let next = try statement.integer(0)
      guard next > head ?? Int64.min else { throw Database.outOfOrder("heads") }
      head = next
      // An unknown class was told of before.
      guard let row = try? Row(statement), let subject = subjects[row.columns.accessible],
        keychain.opensNames(of: row.columns.accessible)
      else { continue }
      item = try begin(row, subject, keychain, &verification)
      try finishItem(keychain, &left, &verification)
    }
  }

  /// Opens a head; nil when it does not open, or it was found to be wrong as a whole.
  private mutating func begin(
    _ row: Row, _ subject: Subject, _ keychain: Keychain, _ verification: inout Verification
  ) throws(VaultError) -> ItemSurvey? {
    let (number, accessible) = (row.columns.row, row.columns.accessible)
    let scratch = keychain.takeScratch()
    defer { keychain.giveBack(scratch) }
    let head: HeadRecord
    do throws(VaultError) { head = try keychain.openHead(row, scratch) } catch .corrupt(let reason) {
      named.insert(accessible)
      verification.add(Finding(.damaged, item: number, reason))
      return nil
    }
    var item = ItemSurvey(row.columns, head, keychain)
    if let stored = subject.stored, let mark = try keychain.mark(row),
      subject.found[.init(.heads)].isSet(stored[.init(.heads)], with: mark)
    {
      named.insert(accessible)
      item.add(.foreign, "item \(number) was deleted before, and put back", to: &verification)
    }
    return item
  }

  /// Goes on with the item that the walk is in, as far as `left` lasts.
  private mutating func finishItem(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    guard var item else { return }
    // Nothing of it is kept beyond an error.
    self.item = nil
    let accessible = item.columns.accessible
    guard keychain.opensNames(of: accessible) else { return }
    let before = item.count
    defer { if item.count > before { named.insert(accessible) } }
    if try !item.walk(keychain, &left, &verification) { self.item = item }
  }

  /// Drops the name of an item, which may not be told any more.
  mutating func forgetName() { item?.forgetName() }

  /// Takes a committed transaction's changes into account: an item that it was looking into is begun anew.
  mutating func apply(_ changes: RecordChanges) {
    guard let number = item?.columns.row else { return }
    let isChanged = changes.list.contains { change in
      switch change.key {
      case .head(let row), .value(let row, _), .tag(_, let row): row == number
      case .single: false
      }
    }
    guard isChanged else { return }
    item = nil
    head = number - 1
  }

  // MARK: Tags

  private mutating func walkTags(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    let statement = keychain.database.statements.allTags
    try statement.bind(1, tag.tag)
    try statement.bind(2, tag.row)
    defer { statement.reset() }
    while left > 0, try statement.step() {
      left -= statement.weight
      try tag.advance(to: statement)
      guard let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(2))),
        subjects[accessible] != nil, keychain.opensNames(of: accessible),
        let found = tag.tag.withSpan({ Tag($0) })
      else { continue }
      if let finding = try Self.finding(found, tag.row, accessible, keychain, &left) {
        named.insert(accessible)
        verification.add(finding)
      }
    }
  }

  private static func finding(
    _ tag: Tag, _ item: Int64, _ accessible: AccessClass, _ keychain: Keychain, _ left: inout Int
  ) throws(VaultError) -> Finding? {
    let wrong = "a tag leads to item \(item), where it does not belong"
    let statement = keychain.database.statements.head
    try statement.bind(1, item)
    let found = try statement.first { (row: Statement) throws(VaultError) -> Finding? in
      left -= row.weight
      let scratch = keychain.takeScratch()
      defer { keychain.giveBack(scratch) }
      // A head that does not open was told of before.
      guard let row = try? Row(row), row.columns.accessible == accessible else {
        return Finding(.foreign, item: item, wrong)
      }
      guard let head = try? keychain.openHead(row, scratch) else { return nil }
      guard try !keychain.tags(of: head.item).contains(tag) else { return nil }
      return Finding(.foreign, item: item, name: head.item.name, wrong)
    }
    return found ?? Finding(.missing, item: item, "a tag leads to item \(item), which has no head")
  }

  // MARK: What is left

  /// Says what the hashes tell and no single record shows.
  func conclude(_ verification: inout Verification) {
    for accessible in AccessClass.allCases {
      guard let subject = subjects[accessible], let stored = subject.stored else { continue }
      for (table, what) in [
        (AssociatedData.Table.heads, "heads"), (.values, "values"), (.tags, "tags"),
      ] {
        let (stored, found) = (stored[.init(table)], subject.found[.init(table)])
        let difference = found.count - stored.count
        let subject = "\(what) of class \(accessible.name)"
        if difference < 0 {
          verification.add(Finding(.missing, "of the \(subject) \(-difference) are missing in all"))
        } else if difference > 0 {
          verification.add(Finding(.foreign, "of the \(subject) \(difference) are too many in all"))
        } else if stored != found, !named.contains(accessible) {
          verification.add(Finding(.replayed, "some of the \(subject) are older ones, which belong together"))
        }
      }
    }
  }
}
