public import VaultWire

extension Vault {
  /// A choice of entries of the audit log.
  public struct AuditQuery: Sendable {
    /// The time of the earliest and of the latest entries, in Unix seconds.
    public var since: Int64?
    public var until: Int64?
    /// The items, as a pattern of a grant, such as `iothome/*`.
    public var items: String?
    /// One item, in place of the pattern: the item that has this name now, under any name that it had.
    public var item: String?
    /// The callers, as a subject of a grant, such as `unit:iothome.service`.
    public var subject: String?
    /// True for refused calls only.
    public var denied = false
    /// The door through which the call came, such as `varlink`.
    public var door: String?
    /// The action, such as `get`.
    public var action: String?
    /// The most entries, counted from the end.
    public var last: Int?

    public init() {}
  }

  /// Facts that the chosen entries of the audit log do not tell.
  public struct AuditOmissions: Sendable {
    /// If an item is chosen: the number of further entries that may be about it. They report a value read, used or
    /// changed, but record only a name, which is not the present name of the item.
    public internal(set) var otherNames = 0
    /// The times, among the chosen ones, for which the log cannot tell what happened; nil if none are known, and if
    /// only the last entries are chosen.
    public internal(set) var gaps: Wire.AuditGaps?

    init() {}
  }

  /// Passes the chosen entries of the audit log to `each`, in their order. An administrator gets all of them; others
  /// get those about themselves. With `following` it continues with later entries, and blocks until there are any.
  ///
  /// - Returns: the facts that these entries do not tell.
  @discardableResult public func audit(
    _ query: AuditQuery = AuditQuery(), following: Bool = false, _ each: (Wire.AuditEntry) throws -> Void
  ) throws -> AuditOmissions {
    var omissions = AuditOmissions()
    var replies = try stream(
      .audit, timeout: timeout,
      Wire.AuditParameters(
        since: query.since, until: query.until, items: query.items, item: query.item, subject: query.subject,
        denied: query.denied ? true : nil, door: query.door, action: query.action, last: query.last,
        follow: following ? true : nil, interactive: attended))
    while let response = try replies.next(timeout: following ? nil : timeout) {
      let reply = try response.decode(Wire.AuditReply.self)
      for entry in reply.entries { try each(entry) }
      omissions.otherNames = reply.otherNames ?? omissions.otherNames
      omissions.gaps = reply.gaps ?? omissions.gaps
    }
    return omissions
  }

  /// Makes the daemon check the whole audit log, also against the marks that were noted elsewhere, and passes its
  /// progress on. Returns the result.
  public func checkAudit(
    noted: [Wire.AuditMark] = [], progress: (Wire.Progress) throws -> Void
  ) throws -> Wire.AuditReply {
    var replies = try stream(
      .audit, timeout: timeout, Wire.AuditParameters(check: true, noted: noted, interactive: attended))
    var last: Wire.AuditReply?
    while let response = try replies.next(timeout: timeout) {
      let reply = try response.decode(Wire.AuditReply.self)
      if let done = reply.progress { try progress(done) }
      last = reply
    }
    guard let last, last.total != nil else { throw ClientError.protocolViolation("Audit ended without a result") }
    return last
  }

  /// Sets aside the entries that a rekey by an earlier version left unreadable. Returns their numbers and times; empty
  /// when there are none. Presence must be proved before this call.
  public func repairAudit() throws(ClientError) -> [Wire.AuditAside] {
    try call(.repairAudit, again: true, Wire.Empty()).decode(Wire.RepairAuditReply.self).aside
  }
}
