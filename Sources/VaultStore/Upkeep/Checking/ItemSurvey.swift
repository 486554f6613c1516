import VaultCore
import VaultModel

/// The part of a ``Survey`` that compares the values and tags of one item with the item's head, in as many steps as
/// that takes.
///
/// A head can name thousands of versions, and each can be as long as a record may be, so this keeps a position within
/// the item.
struct ItemSurvey {
  let columns: HeadColumns
  /// The number of findings about the item.
  private(set) var count = 0
  private var name: ItemName?
  /// The versions that the head names, by number.
  private let versions: [VersionInfo]
  private let digests: [Digest]
  private let tags: [(tag: Tag, subject: String)]
  // The number of versions examined so far.
  private var done = 0
  // The number of the last record of an older version that was reached; nil when all were reached.
  private var older: Int64? = Int64.min

  /// Begins with an item whose head was opened.
  init(_ columns: HeadColumns, _ head: HeadRecord, _ keychain: Keychain) {
    self.columns = columns
    name = head.item.name
    (versions, digests) = (head.item.versions, head.digests)
    tags = Fact.all(head.item).compactMap { fact in
      keychain.tag(fact, columns.accessible).map { (tag: $0, subject: fact.subject) }
    }
  }

  /// Drops the name, which may no longer be shown.
  mutating func forgetName() { name = nil }

  /// Adds a finding about the item.
  mutating func add(_ kind: Finding.Kind, _ text: String, to verification: inout Verification) {
    count += 1
    verification.add(Finding(kind, item: columns.row, name: name, text))
  }

  /// Continues for up to `left` records, which it subtracts from `left`; true at the end.
  mutating func walk(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    while done < versions.count {
      // The item is known to be harmed, and no more findings can be listed.
      if count > 0, verification.isFull { return true }
      guard left > 0 else { return false }
      try walkVersion(versions[done], digests[done], keychain, &left, &verification)
      done += 1
    }
    try walkOlder(keychain, &left, &verification)
    guard older == nil, left > 0 else { return false }
    left -= tags.count
    try lookUpTags(keychain, &verification)
    return true
  }

  private mutating func walkVersion(
    _ info: VersionInfo, _ digest: Digest, _ keychain: Keychain, _ left: inout Int,
    _ verification: inout Verification
  ) throws(VaultError) {
    let subject = "version \(info.number) of item \(columns.row)"
    left -= 1
    let kind: Finding.Kind?
    do throws(VaultError) { kind = try self.kind(of: info, digest, keychain, &left) } catch .corrupt(let reason) {
      return add(.damaged, "\(subject) cannot be read: \(reason)", to: &verification)
    }
    switch kind {
    case nil: break
    case .missing: add(.missing, "\(subject) is missing", to: &verification)
    case .replayed:
      add(
        .replayed, "the head of item \(columns.row) and its version \(info.number) are from different times",
        to: &verification)
    case .damaged, .foreign: add(.damaged, "\(subject) is not the one its head names", to: &verification)
    }
  }

  /// The fault of a version's record; nil when it has none.
  private func kind(
    of info: VersionInfo, _ digest: Digest, _ keychain: Keychain, _ left: inout Int
  ) throws(VaultError) -> Finding.Kind? {
    try keychain.database.withValue(row: columns.row, version: info.number) {
      (sealed: RawSpan) throws(VaultError) in
      left -= sealed.byteCount / 4096
      guard Digest(of: sealed) != digest else { return nil }
      // If the record opens, it is bound to this item, version and policy, but it is not the record that the head
      // names.
      left -= sealed.byteCount / 4096
      let scratch = keychain.takeScratch()
      defer { keychain.giveBack(scratch) }
      let place = columns.associatedData(keychain.vault, version: info.number)
      let opens: Void? = try? keychain.withValueKey(columns.accessible) { (key: borrowing SecureBytes) in
        try? scratch.open(sealed, key: key, associatedData: place)
      }
      return opens == nil ? .damaged : .replayed
    } ?? .missing
  }

  /// Finds the records of versions that the head does not name.
  private mutating func walkOlder(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) {
    guard left > 0, let last = older else { return }
    guard count == 0 || !verification.isFull else {
      older = nil
      return
    }
    let (item, current) = (columns.row, columns.current)
    let isAtEnd = try keychain.database.walkOlderVersions(of: item, after: last) { version in
      left -= 1
      older = version
      if version == current || !names(version) {
        add(.foreign, "version \(version) of item \(item) is not named by its head", to: &verification)
      }
      return left > 0 && (count == 0 || !verification.isFull)
    }
    if isAtEnd || count > 0 && verification.isFull { older = nil }
  }

  /// True when the head names that version.
  private func names(_ version: Int64) -> Bool {
    var range = versions[...]
    while !range.isEmpty {
      let middle = range.startIndex + range.count / 2
      let number = versions[middle].number
      if number == version { return true }
      range = number < version ? range[(middle + 1)...] : range[..<middle]
    }
    return false
  }

  private mutating func lookUpTags(
    _ keychain: Keychain, _ verification: inout Verification
  ) throws(VaultError) {
    for (tag, subject) in tags {
      let found = try keychain.database.tagClass(tag, row: columns.row)
      guard found != Int64(columns.accessible.rawValue) else { continue }
      let text = "the tag by which item \(columns.row) is found by its \(subject) is missing"
      add(.missing, text, to: &verification)
    }
  }
}
