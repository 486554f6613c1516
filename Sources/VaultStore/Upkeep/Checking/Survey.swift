import VaultCore
import VaultModel

/// The part of a check that names the faults: it opens the heads of some classes and compares the values and tags with
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
  // The classes in which a head, a value or a tag was reported as wrong, which explains the difference in the hashes.
  private var named: Set<AccessClass> = []

  /// True when there is nothing to survey.
  var isEmpty: Bool { subjects.isEmpty }

  /// Adds a class to be surveyed.
  ///
  /// - Parameters:
  ///   - stored: the stored hashes; nil when there is no key to read them with, or they are damaged.
  ///   - found: the hashes over the records in the store.
  mutating func add(_ accessible: AccessClass, _ stored: RecordSets?, _ found: RecordSets) {
    subjects[accessible] = Subject(stored: stored, found: found)
  }

  /// Continues over at most `records` records, of which a long one counts as several; true at the end.
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
    _ = try keychain.database.walkHeads(after: head ?? Int64.min) { (walked: Database.WalkedHead) throws(VaultError) in
      left -= walked.weight
      head = walked.item
      // A head of an unknown class was reported already.
      guard let row = try? walked.row(), let subject = subjects[row.columns.accessible],
        isOpen(row.columns.accessible, keychain, &verification)
      else { return left > 0 }
      item = try begin(row, subject, keychain, &verification)
      try finishItem(keychain, &left, &verification)
      return left > 0
    }
  }

  /// Opens a head and begins to survey its item; nil when the head does not open or does not fit its row.
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

  /// Continues with the item that the walk has reached, for up to `left` records.
  private mutating func finishItem(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    guard var item else { return }
    // Nothing of the item is kept after an error.
    self.item = nil
    let accessible = item.columns.accessible
    guard isOpen(accessible, keychain, &verification) else { return }
    let before = item.count
    defer { if item.count > before { named.insert(accessible) } }
    if try !item.walk(keychain, &left, &verification) { self.item = item }
  }

  /// True when the records of a class can be opened. After a lock they cannot, and the class counts as checked in part.
  private func isOpen(_ accessible: AccessClass, _ keychain: Keychain, _ verification: inout Verification) -> Bool {
    if keychain.opensNames(of: accessible) { return true }
    verification.leave(accessible)
    return false
  }

  /// Drops the name of an item, which may no longer be shown.
  mutating func forgetName() { item?.forgetName() }

  /// Notes the changes of a committed transaction: the survey of an item that was changed starts over.
  mutating func apply(_ changes: RecordChanges) {
    guard let number = item?.columns.row else { return }
    let isChanged = changes.list.contains { change in
      switch change.key {
      case .head(let row), .value(let row, _), .tag(_, let row): row == number
      case .deposit, .grant, .single: false
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
    var place = tag
    defer { tag = place }
    try keychain.database.walkTags(from: &place) { (met: Database.WalkedTag) throws(VaultError) in
      left -= met.weight
      guard let accessible = try met.accessible(), subjects[accessible] != nil,
        isOpen(accessible, keychain, &verification), let found = try met.tag()
      else { return left > 0 }
      if let finding = try Self.finding(found, met.item, accessible, keychain, &left) {
        named.insert(accessible)
        verification.add(finding)
      }
      return left > 0
    }
  }

  private static func finding(
    _ tag: Tag, _ item: Int64, _ accessible: AccessClass, _ keychain: Keychain, _ left: inout Int
  ) throws(VaultError) -> Finding? {
    let wrong = "a tag leads to item \(item), where it does not belong"
    let found = try keychain.database.withWalkedHead(item) {
      (walked: Database.WalkedHead) throws(VaultError) -> Finding? in
      left -= walked.weight
      let scratch = keychain.takeScratch()
      defer { keychain.giveBack(scratch) }
      // A head that does not open was reported already.
      guard let row = try? walked.row(), row.columns.accessible == accessible else {
        return Finding(.foreign, item: item, wrong)
      }
      guard let head = try? keychain.openHead(row, scratch) else { return nil }
      guard try !keychain.tags(of: head.item).contains(tag) else { return nil }
      return Finding(.foreign, item: item, name: head.item.name, wrong)
    }
    return found ?? Finding(.missing, item: item, "a tag leads to item \(item), which has no head")
  }

  // MARK: The conclusion

  /// Reports the faults that the hashes show and no single record does.
  func conclude(_ verification: inout Verification) {
    for accessible in AccessClass.allCases {
      guard let subject = subjects[accessible], let stored = subject.stored else { continue }
      for (table, what) in [
        (AssociatedData.Table.heads, "head"), (.values, "value"), (.tags, "tag"),
      ] {
        let (stored, found) = (stored[.init(table)], subject.found[.init(table)])
        let difference = found.count - stored.count
        let name = "class \(accessible.name)"
        if difference < 0 {
          verification.add(Finding(.missing, "\(name) is missing \(Counted.text(-difference, what))"))
        } else if difference > 0 {
          verification.add(Finding(.foreign, "\(name) has \(Counted.text(difference, what)) too many"))
        } else if stored != found, !named.contains(accessible) {
          verification.add(Finding(.replayed, "some of the \(what)s of \(name) are consistent older copies"))
        }
      }
    }
  }
}
