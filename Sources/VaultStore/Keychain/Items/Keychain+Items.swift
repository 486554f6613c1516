public import VaultCore
public import VaultModel

/// A head from the store, opened and checked, with its columns.
struct FoundItem {
  var columns: HeadColumns
  var head: HeadRecord
  /// The mark of the head record in the hash over its class; nil unless the key for it is in memory and the head will
  /// be changed.
  var mark: RecordMark?
}

// The operations that read items.
extension Keychain {
  /// Returns everything about an item except its value.
  ///
  /// - Throws: ``VaultError/noSuchItem``; ``VaultError/locked`` when the name is not found and not all names can be
  ///   looked up now; ``VaultError/corrupt(_:)``.
  public func item(named name: ItemName) throws(VaultError) -> ItemInfo {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else { throw unknownName }
      return found.head.item
    }
  }

  /// The kept versions of an item, newest last. Throws as ``item(named:)`` does.
  public func history(of name: ItemName) throws(VaultError) -> [VersionInfo] { try item(named: name).versions }

  /// The digest of the record of an item's current value, or of the value of `version`. Different values have different
  /// digests. Throws as ``item(named:)`` does.
  ///
  /// - Throws: also ``VaultError/noSuchVersion(_:)``.
  public func digest(ofValue name: ItemName, version: Int? = nil) throws(VaultError) -> Digest {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else { throw unknownName }
      let number = version ?? found.head.item.current.number
      guard let digest = found.head.version(number)?.digest else { throw .noSuchVersion(number) }
      return digest
    }
  }

  /// The head of the item with that name; nil when the keys in memory find none.
  ///
  /// - Parameter marking: true when the head will be changed, for which its mark is needed.
  func find(_ name: ItemName, marking: Bool = false) throws(VaultError) -> FoundItem? {
    let tags = try tags(.name(name))
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    return try database.locate(tags, notice: notice) { (row: Row) throws(VaultError) in
      let head = try openHead(row, scratch)
      try check(row, head, .name(name), tags)
      return FoundItem(columns: row.columns, head: head, mark: marking ? try mark(row) : nil)
    }
  }

  /// Opens the head of a row and checks that it belongs there.
  func openHead(_ row: Row, _ scratch: Scratch) throws(VaultError) -> HeadRecord {
    let columns = row.columns
    var head = try row.withSealedHead { (sealed: RawSpan) throws(VaultError) in
      try withHeadKey(columns.accessible) { (key: borrowing SecureBytes) throws(VaultError) in
        do throws(CryptoError) {
          try scratch.open(sealed, key: key, associatedData: columns.associatedData(vault))
          return try scratch.withBytes { (bytes: RawSpan) throws(CryptoError) in try HeadRecord(decoding: bytes) }
        } catch {
          throw .corrupt("the head of item \(columns.row) does not open")
        }
      }
    }
    let isInPlace =
      head.item.policy.accessible == columns.accessible && head.headRevision == columns.revision
      && head.policyRevision == columns.policyRevision && head.item.current.number == columns.current
    guard isInPlace else { throw .corrupt("the head of item \(columns.row) does not fit its row") }
    head.item.id = columns.item
    return head
  }

  /// Checks that the fact by which a row was found holds for the row's item.
  func check(_ row: Row, _ head: HeadRecord, _ fact: Fact, _ tags: ClassTags) throws(VaultError) {
    guard fact.holds(for: head.item), tags[row.columns.accessible] == (try row.tag()) else {
      throw .corrupt("a tag leads to item \(row.columns.row), where it does not belong")
    }
  }

  /// The error for a name that was not found: the item does not exist, or its name cannot be looked up now.
  var unknownName: VaultError { knowsAllNames ? .noSuchItem : .locked }

  func takeScratch() -> Scratch {
    let scratch = spare ?? Scratch()
    spare = nil
    return scratch
  }

  func giveBack(_ scratch: Scratch) {
    scratch.empty()
    spare = scratch
  }
}
