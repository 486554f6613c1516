import VaultCore
import VaultModel

// The limit on the part of the log that was written before an unlock.
extension Keychain {
  /// Removes the end of the part of the log that was written before the unlock, as far as this part has more than
  /// `most` bytes. A daemon does not write so much, so somebody else has added it to the file. If it stayed, the oldest
  /// entries would be removed for it.
  ///
  /// Whole chains are removed, and none that the unlocked vault has begun. Call this before the first
  /// ``joinAudit(rows:_:)``.
  ///
  /// - Returns: the number of entries that were removed, as their chains state it.
  /// - Throws: ``VaultError/locked``; ``VaultError/corrupt(_:)``; ``VaultError/storage(_:)``. Nothing was removed then.
  public func dropExcessAudit(beyond most: Int64) throws(VaultError) -> Int64 {
    guard !bound.isAuditJoined, bound.auditJoin == nil, !hasFailed, !hasUnwrittenAudit,
      unjoinedAuditBytes ?? 0 > most, let (first, before) = try excess(beyond: most)
    else { return 0 }
    let last = auditEnd.entries
    let chain = try Self.chain(first)
    var position = AuditPosition(before: chain, in: first.row)
    position.bytes = before
    var end = AuditEnd(position, chain: try database.auditRow(first.row - 1)?.chain ?? 0)
    // The chain states the MAC of the end before it. The join checks that MAC.
    end.mac = chain.ended
    try database.begin()
    do throws(VaultError) {
      try database.cutAudit(from: first.row)
      try database.putMeta(MetaName.auditEnd, end.encoded)
      try database.commit()
    } catch {
      database.rollback()
      throw error
    }
    bound.audit = nil
    return max(0, last - end.position.entries)
  }

  /// The beginning of the first chain to be removed: the last one before which there are at most `most` bytes from
  /// before an unlock. `before` is the number of bytes of the log before it. Nil if there are no more than `most`
  /// bytes, or if the unlocked vault has begun a chain after them.
  private func excess(beyond most: Int64) throws(VaultError) -> (first: AuditRow, before: Int64)? {
    let joined = try anchor()?.joined ?? .start
    var (early, bytes) = (Int64(0), joined.bytes)
    var isEarly = false
    var first: (AuditRow, Int64)?
    try database.eachAuditRow(after: joined.row) { (row: AuditRow) throws(VaultError) in
      if row.isBeginning {
        switch try Self.chain(row).origin {
        case .unlocked: (early, isEarly, first) = (0, false, nil)
        case .cold: isEarly = true
        case .continued: break
        }
        if isEarly, early <= most { first = (row, bytes) }
      }
      bytes += Int64(row.bytes.count)
      if isEarly { early += Int64(row.bytes.count) }
      return true
    }
    return early > most ? first : nil
  }
}
