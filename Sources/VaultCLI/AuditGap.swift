internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A time in which the audit log was off, so that what was read then is not known.
enum AuditGap {
  /// The beginning of what the log says of itself when it is turned off, and of its state before a change.
  private static let (off, before) = ("audit off", "before: audit off")

  /// Words for a log that was off at some time since then, or is; nil where it was not.
  ///
  /// - Parameter since: Unix seconds; nil for all that the log has.
  static func text(since: Int64?, _ session: Session) throws(Failure) -> String? {
    let status = try session.call { vault in try vault.status() }
    if status.audit == "off" {
      return "the audit log is off: what is read meanwhile is not known"
    }
    var query = Vault.AuditQuery()
    query.action = AuditAction.audit.name
    var entries: [Wire.AuditEntry] = []
    try session.unlocking { vault in
      entries = []
      try vault.audit(query) { entry in if isAboutSettings(entry) { entries.append(entry) } }
    }
    return wasOff(entries, since: since) ? "the audit log was off for a time: what was read then is not known" : nil
  }

  /// - Parameter entries: those of the log about itself, in their order.
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
