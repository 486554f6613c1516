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
  private var tag = TagPlace()
  // How many heads of each class are named as put in, and how many tags and values as wrong, to know what is left.
  private var named: [AccessClass: Int] = [:]

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

  /// Goes on over at most so many records; whether that was the end.
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
    let statement = keychain.database.statements.heads
    try statement.bind(1, head ?? Int64.min)
    defer { statement.reset() }
    while left > 0, try statement.step() {
      left -= 1
      let next = try statement.integer(0)
      guard next > head ?? Int64.min else { throw Database.outOfOrder("heads") }
      head = next
      // An unknown class was told of before.
      guard let row = try? Row(statement), let subject = subjects[row.columns.accessible],
        keychain.opensNames(of: row.columns.accessible)
      else { continue }
      for finding in try Self.findings(row, subject, keychain) {
        named[row.columns.accessible, default: 0] += 1
        verification.add(finding)
      }
    }
  }

  private static func findings(_ row: Row, _ subject: Subject, _ keychain: Keychain) throws(VaultError) -> [Finding] {
    let item = row.columns.row
    let scratch = keychain.takeScratch()
    defer { keychain.giveBack(scratch) }
    let head: HeadRecord
    do throws(VaultError) { head = try keychain.openHead(row, scratch) } catch .corrupt(let reason) {
      return [Finding(.damaged, item: item, reason)]
    }
    let name = head.item.name
    var findings: [Finding] = []
    if let stored = subject.stored, let mark = try keychain.mark(row),
      subject.found[.init(.heads)].isSet(stored[.init(.heads)], with: mark)
    {
      findings.append(Finding(.foreign, item: item, name: name, "item \(item) was deleted before, and put back"))
    }
    findings += try values(row.columns, head, keychain, scratch)
    findings += try tags(row.columns, head, keychain)
    return findings
  }

  private static func values(
    _ columns: HeadColumns, _ head: HeadRecord, _ keychain: Keychain, _ scratch: Scratch
  ) throws(VaultError) -> [Finding] {
    let (item, name) = (columns.row, head.item.name)
    var findings: [Finding] = []
    for (info, digest) in zip(head.item.versions, head.digests) {
      let kind: Finding.Kind?
      do throws(VaultError) {
        kind = try Self.kind(of: info, digest, columns, keychain, scratch)
      } catch .corrupt(let reason) {
        findings.append(
          Finding(
            .damaged, item: item, name: name, "version \(info.number) of item \(item) cannot be read: \(reason)"))
        continue
      }
      switch kind {
      case nil: break
      case .missing:
        findings.append(Finding(.missing, item: item, name: name, "version \(info.number) of item \(item) is missing"))
      case .replayed:
        findings.append(
          Finding(
            .replayed, item: item, name: name,
            "the head of item \(item) and its version \(info.number) are from different times"))
      default:
        findings.append(
          Finding(
            .damaged, item: item, name: name, "version \(info.number) of item \(item) is not the one its head names"))
      }
    }
    let statement = keychain.database.statements.olderVersions
    try statement.bind(1, item)
    var last = Int64.min
    try statement.each { (row: Statement) throws(VaultError) in
      let version = try row.integer(0)
      guard version > last else { throw Database.outOfOrder("vals") }
      last = version
      if version == columns.current || head.version(Int(version)) == nil {
        findings.append(
          Finding(.foreign, item: item, name: name, "version \(version) of item \(item) is none that its head names"))
      }
      return findings.count < Finding.limit
    }
    return findings
  }

  /// What is wrong with the record of a version; nil when nothing is.
  private static func kind(
    of info: VersionInfo, _ digest: Digest, _ columns: HeadColumns, _ keychain: Keychain, _ scratch: Scratch
  ) throws(VaultError) -> Finding.Kind? {
    try keychain.database.withValue(row: columns.row, version: info.number) {
      (sealed: RawSpan) throws(VaultError) in
      guard Digest(of: sealed) != digest else { return nil }
      // Bound to this item, version and policy, and yet not the one that the head names.
      let place = columns.associatedData(keychain.vault, version: info.number)
      let opens: Void? = try? keychain.withValueKey(columns.accessible) { (key: borrowing SecureBytes) in
        try? scratch.open(sealed, key: key, associatedData: place)
      }
      return opens == nil ? .damaged : .replayed
    } ?? .missing
  }

  // MARK: Tags

  private static func tags(
    _ columns: HeadColumns, _ head: HeadRecord, _ keychain: Keychain
  ) throws(VaultError) -> [Finding] {
    var findings: [Finding] = []
    for fact in Fact.all(head.item) {
      guard let tag = keychain.tag(fact, columns.accessible) else { continue }
      let found = try keychain.database.tagClass(tag, row: columns.row)
      if found != Int64(columns.accessible.rawValue) {
        findings.append(
          Finding(
            .missing, item: columns.row, name: head.item.name,
            "the tag by which item \(columns.row) is found by its \(fact.subject) is missing"))
      }
    }
    return findings
  }

  private mutating func walkTags(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    let statement = keychain.database.statements.allTags
    try statement.bind(1, tag.tag)
    try statement.bind(2, tag.row)
    defer { statement.reset() }
    while left > 0, try statement.step() {
      left -= 1
      try tag.advance(to: statement)
      guard let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(2))),
        subjects[accessible] != nil, keychain.opensNames(of: accessible),
        let found = tag.tag.withSpan({ Tag($0) })
      else { continue }
      if let finding = try Self.finding(found, tag.row, accessible, keychain) {
        named[accessible, default: 0] += 1
        verification.add(finding)
      }
    }
  }

  private static func finding(
    _ tag: Tag, _ item: Int64, _ accessible: AccessClass, _ keychain: Keychain
  ) throws(VaultError) -> Finding? {
    let wrong = "a tag leads to item \(item), where it does not belong"
    let statement = keychain.database.statements.head
    try statement.bind(1, item)
    let found = try statement.first { (row: Statement) throws(VaultError) -> Finding? in
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
        } else if stored != found, named[accessible] == nil {
          verification.add(Finding(.replayed, "some of the \(subject) are older ones, which belong together"))
        }
      }
    }
  }
}
