internal import VaultClient
internal import VaultWire

/// The items that somebody has read, used or stored since a time, as the audit log tells it.
struct ItemUses {
  private let since: Int64
  private var names: Set<String> = []

  /// - Parameter since: Unix seconds.
  init(since: Int64, _ session: Session) throws(Failure) {
    self.since = since
    var query = Vault.AuditQuery()
    query.since = since
    names = try session.unlocking(for: "to read the audit log") { vault in
      var names: Set<String> = []
      try vault.audit(query) { entry in
        guard entry.outcome == "ok", ["get", "use"].contains(entry.action), let item = entry.item else { return }
        names.insert(item)
      }
      return names
    }
  }

  /// True when an item is older than that, and nobody has read or used it since.
  func isUnused(_ item: Wire.Item) -> Bool { item.created < since && !names.contains(item.name) }
}
