internal import VaultClient
internal import VaultWire

/// The items that somebody has read or used since a time, as the audit log tells it, by the names that they have now.
struct ItemUses {
  private let since: Int64
  /// By their bytes.
  private var names: Set<[UInt8]> = []
  /// The number of uses since then of which the log does not tell the items.
  private var unknown = 0
  /// The number of those of which it tells their names alone.
  private var byName = 0
  /// Words for a log that was off.
  private var gap: String?

  /// - Parameter since: Unix seconds.
  init(since: Int64, _ session: Session) throws(Failure) {
    var query = Vault.AuditQuery()
    query.since = since
    self = try session.unlocking(for: "vault list --unused") { vault in
      var uses = ItemUses(since: since)
      try vault.audit(query) { uses.add($0) }
      return uses
    }
    gap = try AuditGap.text(since: since, session)
  }

  private init(since: Int64) { self.since = since }

  private mutating func add(_ entry: Wire.AuditEntry) {
    guard entry.outcome == "ok", ["get", "use"].contains(entry.action) else { return }
    if entry.namesNoItem {
      unknown += entry.count ?? 0
    } else if let item = entry.item, entry.gone != true {
      names.insert(Array((entry.now ?? item).utf8))
      if entry.byName == true { byName += entry.count ?? 1 }
    }
  }

  /// Says that what is listed may have been used, or the other way round, where the log does not tell.
  func note() {
    if let gap { Output.note(gap) }
    if unknown > 0 {
      Output.note("\(unknown) uses since then were counted without the items' names, and may have been of these")
    }
    if byName > 0 {
      Output.note("\(byName) uses since then are known by the items' names alone, which others may have had")
    }
  }

  /// True when an item is older than that, and nobody has read or used it since.
  func isUnused(_ item: Wire.Item) -> Bool { item.created < since && !names.contains(Array(item.name.utf8)) }
}
