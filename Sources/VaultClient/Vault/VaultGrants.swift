public import VaultWire

extension Vault {
  /// The grants that a query finds, and further facts about them.
  public struct Grants: Sendable {
    public var grants: [Wire.Permission] = []
    /// The subjects whose processes have no rights except their grants, in a user's vault.
    public var confined: [String] = []
    /// The time since which grants have been waiting for confirmation, in Unix seconds; nil when none wait.
    public var unconfirmed: Int64?
  }

  /// Grants `rights` to the callers that match `subject`, for the items that match the pattern `items`, until a time in
  /// Unix seconds. With `credential` the item is also a credential of that name of the service that is `subject`.
  ///
  /// The path of `exe:` in a subject is compared with the one that the kernel reports, so it must have no symbolic
  /// links; realpath(3) resolves them.
  ///
  /// A grant replaces an earlier one with the same subject and items; the reply contains the earlier grant. In a user's
  /// vault, call ``authenticateForGrants(answer:)`` first.
  public func grant(
    _ subject: String, _ items: String, _ rights: [String], as credential: String? = nil, until: Int64? = nil
  ) throws(ClientError) -> Wire.GrantReply {
    try call(
      .grant, again: false,
      Wire.GrantParameters(
        subject: subject, items: items, rights: rights, credential: credential, until: until, interactive: attended)
    ).decode()
  }

  /// Revokes the grant of `subject` for the pattern `items`, or all its grants.
  public func revoke(_ subject: String, _ items: String? = nil) throws(ClientError) -> Wire.RevokeReply {
    try call(
      .revoke, again: false, Wire.RevokeParameters(subject: subject, items: items, interactive: attended)
    ).decode()
  }

  /// Returns the grants that meet every given condition: those of a process that is `subject`, without those that have
  /// ended, those for the item `name`, and those not needed for `unused` seconds. Administrators see all grants, others
  /// their own.
  public func grants(
    for subject: String? = nil, on name: String? = nil, unused: Int? = nil
  ) throws(ClientError) -> Grants {
    let parameters = Wire.GrantsParameters(subject: subject, name: name, unused: unused)
    return try gather(.grants, parameters) { replies throws(ClientError) in
      var found = Grants()
      var size = AnswerSize(limit: longestReport)
      while let response = try replies.next(timeout: timeout) {
        try size.add(response)
        let reply = try response.decode(Wire.GrantsReply.self)
        found.grants += reply.grants
        found.confined += reply.confined ?? []
        if let time = reply.unconfirmed { found.unconfirmed = time }
      }
      return found
    }
  }

  /// Returns true when a process that is `subject`, or this process, may do `right` to the item `name`, even if there
  /// is no such item.
  public func can(_ subject: String?, _ right: String, _ name: String) throws(ClientError) -> Bool {
    try mayDo(subject, right, name).allowed
  }

  /// Returns the same as ``can(_:_:_:)``, and what gives the right. If it is not allowed, the reply tells what gives
  /// the right to only some such processes.
  public func mayDo(_ subject: String?, _ right: String, _ name: String) throws(ClientError) -> Wire.CanReply {
    try call(.can, again: true, Wire.CanParameters(subject: subject, right: right, name: name)).decode()
  }

  /// Returns the rights of a process that is `subject`, and what gives them: rights to the item `name`, to any item
  /// that the pattern `items` matches or, if both are nil, to any item at all. For administrators.
  public func rights(
    of subject: String, items: String? = nil, name: String? = nil
  ) throws(ClientError) -> Wire.RightsReply {
    try call(.rights, again: true, Wire.RightsParameters(subject: subject, items: items, name: name)).decode()
  }

  /// Returns the subjects with rights to the item `name` by grants, even if there is no such item.
  public func access(to name: String) throws(ClientError) -> [Wire.Access] {
    try call(.whoMay, again: true, Wire.WhoMayParameters(name: name)).decode(Wire.WhoMayReply.self).access
  }

  /// Confirms the grants of a vault that was made from a backup, so that they take effect. Returns their number.
  @discardableResult
  public func confirmGrants() throws(ClientError) -> Int {
    try call(.confirmGrants, again: true, Wire.ConfirmGrantsParameters(interactive: attended))
      .decode(Wire.ConfirmGrantsReply.self).grants
  }

  /// Ends the confinement of a subject that grants have named: its processes are treated like the user's others again.
  public func forgetSubject(_ subject: String) throws(ClientError) {
    _ = try call(
      .forgetSubject, again: false, Wire.ForgetSubjectParameters(subject: subject, interactive: attended)
    ).decode(Wire.Empty.self)
  }
}
