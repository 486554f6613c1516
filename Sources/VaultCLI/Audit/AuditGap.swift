internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A time in which the audit log was off, so that reads in that time are unknown.
enum AuditGap {
  /// In the log's entries about itself: the beginning of `item` if the log was turned off, and the beginning of
  /// `detail` if the log was off before the change.
  private static let (off, before) = ("audit off", "before: audit off")

  /// Returns a sentence if the log was off at some time since `since`, or is off now; nil otherwise.
  ///
  /// - Parameter since: Unix seconds; nil for all entries of the log.
  static func text(since: Int64?, _ session: Session) throws(Failure) -> String? {
    let status = try session.call { vault in try vault.status() }
    if status.audit == "off" {
      return "the audit log is off: reads are not recorded meanwhile"
    }
    var query = Vault.AuditQuery()
    query.action = AuditAction.audit.name
    var entries: [Wire.AuditEntry] = []
    try session.unlocking { vault in
      entries = []
      try vault.audit(query) { entry in if isAboutSettings(entry) { entries.append(entry) } }
    }
    return wasOff(entries, since: since)
      ? "the audit log was off for a time: reads during that time are not known" : nil
  }

  /// Decides whether the log was off at some time since `since`.
  ///
  /// - Parameter entries: the log's entries about itself, in their order.
  static func wasOff(_ entries: [Wire.AuditEntry], since: Int64?) -> Bool {
    guard let since else { return entries.contains { isOff($0) || wasOff($0) } }
    let isOffAtFirst = entries.last { $0.time < since }.map(isOff) ?? false
    return isOffAtFirst || entries.contains { $0.time >= since && (isOff($0) || wasOff($0)) }
  }

  private static func isAboutSettings(_ entry: Wire.AuditEntry) -> Bool {
    entry.uid == nil && entry.item?.hasPrefix("audit ") == true
  }

  private static func isOff(_ entry: Wire.AuditEntry) -> Bool { entry.item?.hasPrefix(off) == true }

  private static func wasOff(_ entry: Wire.AuditEntry) -> Bool { entry.detail?.hasPrefix(before) == true }
}
