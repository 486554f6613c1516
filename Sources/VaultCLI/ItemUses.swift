internal import VaultClient
internal import VaultWire

/// The items that somebody has read, used or stored since a time, as the audit log tells it.
struct ItemUses {
  private let since: Int64
  private var names: Set<String> = []
  /// The number of uses since then of which the log does not tell the items.
  let unknown: Int

  /// - Parameter since: Unix seconds.
  init(since: Int64, _ session: Session) throws(Failure) {
    self.since = since
    var query = Vault.AuditQuery()
    query.since = since
    (names, unknown) = try session.unlocking(for: "to read the audit log") { vault in
      var names: Set<String> = []
      var unknown = 0
      try vault.audit(query) { entry in
        guard entry.outcome == "ok", ["get", "use"].contains(entry.action) else { return }
        if entry.namesNoItem { unknown += entry.count ?? 0 } else if let item = entry.item { names.insert(item) }
      }
      return (names, unknown)
    }
  }

  /// Says that what is listed may have been used, where the log does not tell.
  func note() {
    guard unknown > 0 else { return }
    Output.note("\(unknown) uses since then were counted without the items' names, and may have been of these")
  }

  /// True when an item is older than that, and nobody has read or used it since.
  func isUnused(_ item: Wire.Item) -> Bool { item.created < since && !names.contains(item.name) }
}
