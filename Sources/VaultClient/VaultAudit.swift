public import VaultWire

extension Vault {
  /// A choice among the entries of the audit log.
  public struct AuditQuery: Sendable {
    /// The time of the first and of the last ones, Unix seconds.
    public var since: Int64?
    public var until: Int64?
    /// The items, as a grant names them, such as `iothome/*`.
    public var items: String?
    /// In place of these: the item that has this name now, under any name that it had.
    public var item: String?
    /// The callers, as a grant names them, such as `unit:iothome.service`.
    public var subject: String?
    /// True for those alone that were refused.
    public var denied = false
    /// The way in which it was asked for, such as `varlink`.
    public var door: String?
    /// The action, such as `get`.
    public var action: String?
    /// The most of them, the last ones.
    public var last: Int?

    public init() {}
  }

  /// Hands over the entries of the audit log that are asked for, in their order: all for an administrator; those about
  /// themselves for others. With `following` it goes on with those that are yet to come, and blocks until there are any.
  ///
  /// - Returns: where an item is asked for, the number of entries of values that were read, used or changed which have a
  ///   name alone, and another one: the item may have had it then.
  @discardableResult public func audit(
    _ query: AuditQuery = AuditQuery(), following: Bool = false, _ each: (Wire.AuditEntry) throws -> Void
  ) throws -> Int {
    var otherNames = 0
    var replies = try stream(
      .audit, timeout: timeout,
      Wire.AuditParameters(
        since: query.since, until: query.until, items: query.items, item: query.item, subject: query.subject,
        denied: query.denied ? true : nil, door: query.door, action: query.action, last: query.last,
        follow: following ? true : nil, interactive: attended))
    while let response = try replies.next(timeout: following ? nil : timeout) {
      let reply = try response.decode(Wire.AuditReply.self)
      for entry in reply.entries { try each(entry) }
      otherNames = reply.otherNames ?? otherNames
    }
    return otherNames
  }

  /// Has all of the audit log looked at, also against what was noted of it elsewhere, and hands over how far that is. Gives
  /// what came of it.
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

  /// Sets aside the entries that a rekey of an earlier version left unreadable, and gives their numbers and times; none
  /// where there are none. Presence has to be shown before.
  public func repairAudit() throws(ClientError) -> [Wire.AuditAside] {
    try call(.repairAudit, again: true, Wire.Empty()).decode(Wire.RepairAuditReply.self).aside
  }
}
