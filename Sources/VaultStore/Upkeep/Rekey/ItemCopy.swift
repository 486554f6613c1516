import VaultCore
import VaultModel

/// The copying of items from one vault's store into another store of the same vault id. Records are opened with the
/// keys of the source, so that each is authenticated, and sealed under the keys of the target.
///
/// Identity, revisions, versions, times and policy stay the same, and so does the row unless the caller gives another
/// one. Both keychains need their keys in memory, and the target needs an open transaction. Each item has a result of
/// its own, so that a damaged item does not affect any other.
struct ItemCopy {
  let source: Keychain
  let target: Keychain
  /// True when an item with damaged older versions is copied without these. Versions beyond the number that an item
  /// keeps are then left out too, because a forged head can name thousands of any length. The current version is needed
  /// in any case.
  var toleratesLoss = false

  /// The outcome for one item.
  struct Result {
    /// The head in the target.
    var head: HeadRecord
    /// True when anything was written; false when the target had the same item already.
    var isCopied: Bool
    /// The versions that were left out.
    var lost: [Int] = []
    /// The number of the oldest versions that were left out because they exceed what an item keeps.
    var surplus = 0
  }

  /// Makes a row of the target equal to the same row of the source. If the source has no such row, the target's row is
  /// removed, and the result is nil.
  func bring(_ number: Int64) throws(VaultError) -> Result? {
    let copied = try opening { () throws(VaultError) in
      try source.database.withHead(number) { (row: Row) -> Swift.Result<Result, VaultError> in
        // A fault of the target is not a fault of the store that is being read.
        do throws(VaultError) { return .success(try copy(row, taggedAtOnce: true)) } catch { return .failure(error) }
      }
    }
    if copied == nil { try remove(number) }
    return try copied?.get()
  }

  /// Copies the item in a row of the source, in place of what the target has in that row.
  ///
  /// - Parameters:
  ///   - number: the row in the target; nil for the same row.
  ///   - taggedAtOnce: true when the item's tags are written, too. Otherwise the caller writes the tags, and can write
  ///     those of many items in an order that suits the disk.
  /// - Throws: ``VaultError/corrupt(_:)`` when a needed record does not open or is missing. Then nothing of the item is
  ///   in the target, if there was nothing before and ``toleratesLoss`` is set; otherwise the caller must roll the
  ///   transaction back.
  func copy(_ row: Row, to number: Int64? = nil, taggedAtOnce: Bool) throws(VaultError) -> Result {
    let scratch = source.takeScratch()
    defer { source.giveBack(scratch) }
    let head = try opening { () throws(VaultError) in try source.openHead(row, scratch) }
    var columns = row.columns
    columns.row = number ?? columns.row
    var isThere = false
    if let there = try target.head(inRow: columns.row) {
      if Self.isSame(head, there.head), columns == there.columns {
        if taggedAtOnce { try putTags(of: head, columns) }
        return Result(head: head, isCopied: false)
      }
      isThere = true
    }
    if isThere { try remove(columns.row) }
    var result = Result(head: head, isCopied: true)
    result.head.item.versions = []
    result.head.digests = []
    // The newest version comes first: without it there is no item, and nothing has been written for the item yet.
    var current: SealedValue?
    if toleratesLoss { result.surplus = Keychain.surplus(of: head.item.versions, beforeNewValue: false) }
    for (version, digest) in zip(head.item.versions, head.digests).dropFirst(result.surplus).reversed() {
      do throws(VaultError) {
        let sealed = try opening { () throws(VaultError) in try reseal(version, digest, row.columns, scratch) }
        if version.number == columns.current {
          current = sealed
        } else {
          try target.put(columns, older: sealed, isNew: true)
        }
        result.head.item.versions.insert(version, at: 0)
        result.head.digests.insert(sealed.digest, at: 0)
      } catch .corrupt(let reason) {
        guard toleratesLoss, version.number != columns.current else { throw .corrupt(reason) }
        result.lost.append(version.number)
      }
    }
    guard let current else { throw Keychain.missingValue(columns.current, row.columns.row) }
    try target.put(columns, result.head, value: current)
    if taggedAtOnce { try putTags(of: result.head, columns) }
    return result
  }

  /// Reads from the source. If a record there is not as it was written, the source has failed from then on, because the
  /// fault must be found there and the rest saved from there. A copy that tolerates losses does not make the source
  /// fail.
  private func opening<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    toleratesLoss ? try body() : try source.noticing(body)
  }

  /// Opens a version with the keys of the source and seals it with the keys of the target.
  private func reseal(
    _ version: VersionInfo, _ digest: Digest, _ columns: HeadColumns, _ scratch: Scratch
  ) throws(VaultError) -> SealedValue {
    let opened: Void? = try source.database.withValue(row: columns.row, version: version.number) {
      (sealed: RawSpan) throws(VaultError) in
      try source.open(sealed, columns, version, digest, scratch)
    }
    guard opened != nil else { throw Keychain.missingValue(version.number, columns.row) }
    return try scratch.withBytes { (plaintext: RawSpan) throws(VaultError) in
      try target.seal(plaintext, columns, version: version.number)
    }
  }

  /// Removes an item from the target, if the target has it.
  func remove(_ row: Int64) throws(VaultError) {
    guard let old = try target.head(inRow: row) else { return }
    for tag in try target.tags(of: old.head.item) where try target.database.tagClass(tag, row: row) != nil {
      try target.delete(tag, old.columns)
    }
    for (version, digest) in zip(old.head.item.versions, old.head.digests) {
      try target.noteRemoval(of: version.number, old.columns, digest)
    }
    target.noteRemoval(of: old)
    try target.database.delete(row: row, olderValues: old.head.item.versions.count - 1)
  }

  /// Writes those tags of an item that the target does not have yet.
  func putTags(of head: HeadRecord, _ columns: HeadColumns) throws(VaultError) {
    for tag in try target.tags(of: head.item) { try put(tag, row: columns.row, columns.accessible) }
  }

  /// Makes a tag lead to an item of the target, unless it does so already.
  func put(_ tag: Tag, row: Int64, _ accessible: AccessClass) throws(VaultError) {
    guard try target.database.tagClass(tag, row: row) == nil else { return }
    try target.database.insert(tag, row: row, accessible)
    try target.note(.insert, tag, row: row, accessible)
  }

  /// True when both heads are the same revision of an item. The digests are not compared, because they are those of
  /// different ciphertexts.
  private static func isSame(_ one: HeadRecord, _ other: HeadRecord) -> Bool {
    var other = other
    guard one.digests.count == other.digests.count else { return false }
    other.digests = one.digests
    return one == other
  }
}

extension Keychain {
  /// The head in a row, opened and checked; nil when the row has none.
  func head(inRow number: Int64) throws(VaultError) -> FoundItem? {
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    return try database.withHead(number) { (row: Row) throws(VaultError) in
      FoundItem(columns: row.columns, head: try openHead(row, scratch), mark: try mark(row))
    }
  }
}
