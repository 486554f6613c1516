/// The bounds of the number of entries before a place in the audit log, for a walk that does not open the records.
///
/// Anyone who has the disk can write the beginning of a chain with any number in it, and the end of the log with any
/// number, and nobody opens the records of a chain that is removed. But rows of a known size hold only so many entries,
/// so nobody can make the numbers of a log jump.
public struct AuditBounds: Sendable {
  private var least: Int64
  private var most: Int64

  /// Begins at a position whose number of entries is known.
  public init(_ position: AuditPosition) { (least, most) = (position.entries, position.entries) }

  /// Passes a record of so many bytes.
  public mutating func pass(record bytes: Int) {
    pass(min(Int64(bytes) / AuditBlock.leastEntry, AuditBlock.mostEntries))
  }

  /// Passes rows that were removed.
  public mutating func pass(_ gap: AuditGap) { pass(gap.mostEntries) }

  private mutating func pass(_ entries: Int64) { most = min(most, AuditPosition.most) + entries }

  /// Takes the number of entries before a place as the log states it. Without the number, the bounds stay.
  ///
  /// - Returns: False if the rows that were passed since the last known number cannot have held so many entries, or
  ///   there were more before these rows.
  public mutating func take(_ entries: Int64) -> Bool {
    guard least <= entries, entries <= most else { return false }
    (least, most) = (entries, entries)
    return true
  }
}
