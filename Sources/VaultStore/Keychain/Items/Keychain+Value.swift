public import VaultCore
public import VaultModel

// The reading of a value, which is the operation that most requests wait for.
extension Keychain {
  /// Lends one value: the current value, or the value of `version`.
  ///
  /// The bytes lie in secure memory that is wiped when `body` returns; `body` must not copy them to other memory.
  /// - Parameters:
  ///   - now: Unix seconds. The expiry is compared with this time or the newest time of any write of the item's class,
  ///     whichever is later.
  ///   - evenExpired: true to lend the value even if the item has expired.
  ///   - decide: decides whether the value may be opened; called when the item is known and before its value is opened.
  ///   - body: gets the item, the number of the version and the value.
  /// - Throws: ``VaultError/noSuchItem``, ``VaultError/noSuchVersion(_:)``, ``VaultError/locked``,
  ///   ``VaultError/expired(_:)``, ``VaultError/notAllowed(_:)``, ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``.
  public func withValue<R: ~Copyable>(
    of name: ItemName, version: Int? = nil, now: Int64, evenExpired: Bool = false,
    if decide: (ItemInfo) -> Decision = { _ in .allow }, _ body: (ItemInfo, Int, RawSpan) -> R
  ) throws(VaultError) -> R {
    let scratch = takeScratch()
    defer { giveBack(scratch) }
    let item: ItemInfo
    let number: Int
    do throws(VaultError) {
      if version == nil, let entry = bound.recent[name] {
        (item, number) = (entry.item, try openRecent(entry, now, evenExpired, decide, scratch))
      } else {
        (item, number) = try openValue(of: name, version, now, evenExpired, decide, scratch)
      }
    } catch {
      notice(error)
      throw error
    }
    return scratch.withBytes { (value: RawSpan) in body(item, number, value) }
  }

  /// Makes the same decision about the current value as ``withValue(of:version:now:evenExpired:if:_:)``, and opens no
  /// value.
  ///
  /// - Returns: the item, and the digest of its value's record.
  public func checkReading(
    of name: ItemName, now: Int64, evenExpired: Bool, if decide: (ItemInfo) -> Decision
  ) throws(VaultError) -> (ItemInfo, Digest) {
    try noticing { () throws(VaultError) in
      guard let found = try find(name) else { throw unknownName }
      guard opensValues(of: found.columns.accessible) else { throw .locked }
      let number = found.columns.current
      try checkExpiry(found.head.item, now, evenExpired)
      try check(decide(found.head.item), found.head.item)
      guard let (_, digest) = found.head.version(number) else { throw .noSuchVersion(number) }
      return (found.head.item, digest)
    }
  }

  private func openValue(
    of name: ItemName, _ version: Int?, _ now: Int64, _ evenExpired: Bool, _ decide: (ItemInfo) -> Decision,
    _ scratch: Scratch
  ) throws(VaultError) -> (ItemInfo, Int) {
    let tags = try tags(.name(name))
    var entry: RecentItems.Entry?
    let found = try database.read(tags, version: version, notice: notice) { (row: Row) throws(VaultError) in
      let head = try openHead(row, scratch)
      try check(row, head, .name(name), tags)
      let number = try openValue(row, head, version, now, evenExpired, decide, scratch)
      if version == nil { entry = try self.entry(row, head) }
      return (head.item, number)
    }
    guard let found else { throw unknownName }
    // The entry is remembered only after the whole lookup succeeded, so that a request which was refused once is not
    // served the next time.
    if let entry { bound.recent.remember(entry) }
    return found
  }

  private func openRecent(
    _ entry: RecentItems.Entry, _ now: Int64, _ evenExpired: Bool, _ decide: (ItemInfo) -> Decision,
    _ scratch: Scratch
  ) throws(VaultError) -> Int {
    guard opensValues(of: entry.accessible) else { throw .locked }
    try checkExpiry(entry.item, now, evenExpired)
    try check(decide(entry.item), entry.item)
    let number = entry.item.current.number
    try withValueKey(entry.accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        let sealed = entry.sealed
        // Bytes have no padding, so all of them are initialized.
        try scratch.open(unsafe sealed.span.bytes, key: key, associatedData: entry.associatedData)
      } catch {
        throw .corrupt("version \(number) of an item that was read before does not open")
      }
    }
    return number
  }

  /// The entry to remember for an item whose current value was just opened. Nil for a long value or a long head, and
  /// within a transaction, whose changes may still be undone.
  private func entry(_ row: Row, _ head: HeadRecord) throws(VaultError) -> RecentItems.Entry? {
    guard case .none = transaction.state else { return nil }
    let headCount = try row.withSealedHead { (bytes: RawSpan) throws(VaultError) in bytes.byteCount }
    guard headCount <= RecentItems.longestHead else { return nil }
    let sealed = try row.withSealedValue { (bytes: RawSpan) throws(VaultError) -> [UInt8]? in
      bytes.byteCount <= RecentItems.longestValue ? [UInt8](copying: bytes) : nil
    }
    guard let sealed else { return nil }
    let context = row.columns.associatedData(vault, version: row.columns.current)
    return RecentItems.Entry(head.item, sealed: sealed, associatedData: context)
  }

  /// Refuses a value that was not allowed. Also refuses a key that is never read, unless the decision keeps the value
  /// in this process. So such a key is safe even from a decision that did not consider it.
  private func check(_ decision: Decision, _ item: ItemInfo) throws(VaultError) {
    switch decision {
    case .allow: if item.policy.isNeverRead { throw .notAllowed(.refuse) }
    case .allowWithin: break
    case .ask, .refuse: throw .notAllowed(decision)
    }
  }

  private func checkExpiry(_ item: ItemInfo, _ now: Int64, _ evenExpired: Bool) throws(VaultError) {
    guard !evenExpired, let expires = item.expires, try hasExpired(item, now: now) else { return }
    throw .expired(expires)
  }

  /// Opens the value that came with a head, and returns the number of its version.
  private func openValue(
    _ row: Row, _ head: HeadRecord, _ version: Int?, _ now: Int64, _ evenExpired: Bool,
    _ decide: (ItemInfo) -> Decision, _ scratch: Scratch
  ) throws(VaultError) -> Int {
    guard opensValues(of: row.columns.accessible) else { throw .locked }
    try checkExpiry(head.item, now, evenExpired)
    try check(decide(head.item), head.item)
    let number = version ?? row.columns.current
    guard let (info, digest) = head.version(number) else { throw .noSuchVersion(number) }
    guard try row.valueVersion() == number else { throw Self.missingValue(number, row.columns.row) }
    try row.withSealedValue { (sealed: RawSpan) throws(VaultError) in
      try open(sealed, row.columns, info, digest, scratch)
    }
    return number
  }

  /// Opens a sealed value into `scratch`.
  func open(
    _ sealed: RawSpan, _ columns: HeadColumns, _ info: VersionInfo, _ digest: Digest, _ scratch: Scratch
  ) throws(VaultError) {
    guard sealed.byteCount == info.size + AEAD.overhead, Digest(of: sealed) == digest else {
      throw Self.otherValue(info.number, columns.row)
    }
    try withValueKey(columns.accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        try scratch.open(sealed, key: key, associatedData: columns.associatedData(vault, version: info.number))
      } catch {
        throw .corrupt("version \(info.number) of item \(columns.row) does not open")
      }
    }
  }

  static func otherValue(_ version: Int, _ item: Int64) -> VaultError {
    .corrupt("version \(version) of item \(item) is not the one its head names")
  }

  static func missingValue(_ version: Int, _ item: Int64) -> VaultError {
    .corrupt("version \(version) of item \(item) is missing")
  }
}
