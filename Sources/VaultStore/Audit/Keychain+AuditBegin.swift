import VaultCore

// The time at which the audit log begins.
extension Keychain {
  /// The time at which the oldest chain of the log began, in Unix seconds, if the chains before it were removed: what
  /// happened before that time may not be in the log any more. Nil if nothing was removed, and if the vault is locked
  /// or the log cannot be read.
  ///
  /// The entries that a cut has kept are older, so the time of the first entry would not tell this.
  public var auditBegin: Int64? {
    guard let cut = (try? anchor())??.cut, cut.entries > 0, let row = (try? database.auditRow(cut.row + 1)) ?? nil,
      row.isBeginning
    else { return nil }
    return (try? Self.chain(row))?.time
  }
}
