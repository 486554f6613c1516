internal import VaultClient
internal import VaultWire

/// The items that were read or used since a time, according to the audit log, by their current names.
struct ItemUses {
  private let since: Int64
  /// The names of the items that were read or used, as UTF-8 bytes.
  private var names: Set<[UInt8]> = []
  /// The number of uses since then for which the log names no item.
  private var unknown = 0
  /// The number of uses for which the log has only the item's name at that time, which another item may have had.
  private var byName = 0
  /// True if the caller sees only the uses by its own programs.
  private var areOwn = false
  /// The times since then for which the log cannot tell who read what; nil if none are known.
  private(set) var gaps: Wire.AuditGaps?
  /// Sentences about these times.
  private var remarks: [String] = []

  /// - Parameter since: Unix seconds.
  init(since: Int64, _ session: Session) throws(Failure) {
    var query = Vault.AuditQuery()
    query.since = since
    self = try session.unlocking(for: "vault list --unused") { vault in
      var uses = ItemUses(since: since)
      uses.gaps = try vault.audit(query) { uses.add($0) }.gaps
      return uses
    }
    remarks = try AuditGap.texts(gaps, session)
    areOwn = try AuditScope.isOwn(session)
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

  /// Says in which ways the listing may be wrong, if the log is incomplete.
  func note() {
    if areOwn { Output.note("you see only the uses by your own programs; others may have read or used these items") }
    for remark in remarks { Output.note(remark) }
    if unknown > 0 {
      Output.note("\(unknown) uses since then were counted without the items' names, and may concern these items")
    }
    if byName > 0 {
      Output.note("\(byName) uses since then are known only by the items' names, which other items may have had")
    }
  }

  /// Returns true if an item was made before `since`.
  func isOld(_ item: Wire.Item) -> Bool { item.created < since }

  /// Returns true if an item was made before `since`, and nobody has read or used it since then.
  func isUnused(_ item: Wire.Item) -> Bool { isOld(item) && !names.contains(Array(item.name.utf8)) }
}
