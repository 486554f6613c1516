public import VaultWire

extension Vault {
  /// The grants that are left by what is asked for, and what else there is to know of them.
  public struct Grants: Sendable {
    public var grants: [Wire.Permission] = []
    /// The subjects whose processes have their grants alone, in a user's vault.
    public var confined: [String] = []
    /// The time since which grants wait to be confirmed, Unix seconds; nil where they do not.
    public var unconfirmed: Int64?
  }

  /// Lets the callers that are `subject` do `rights` to the items that the pattern `items` is for, until a time in Unix seconds.
  /// With `credential` the item is also a credential of that name of the service that is `subject`.
  ///
  /// An earlier grant for the same of both is replaced, and is in the reply. In a user's vault it takes
  /// ``authenticateForGrants(answer:)`` before.
  public func grant(
    _ subject: String, _ items: String, _ rights: [String], as credential: String? = nil, until: Int64? = nil
  ) throws(ClientError) -> Wire.GrantReply {
    try call(
      .grant, again: false,
      Wire.GrantParameters(
        subject: subject, items: items, rights: rights, credential: credential, until: until, interactive: attended)
    ).decode()
  }

  /// Takes the grants of `subject` for the pattern `items` back, or all that it has.
  public func revoke(_ subject: String, _ items: String? = nil) throws(ClientError) -> Wire.RevokeReply {
    try call(
      .revoke, again: false, Wire.RevokeParameters(subject: subject, items: items, interactive: attended)
    ).decode()
  }

  /// The grants: those that a process has which is `subject`, that are for the item `name`, or that were not needed for `unused`
  /// seconds. Administrators see all, others their own.
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

  /// True when a process that is `subject`, or this one, may do `right` to the item `name`, whether there is one or not.
  public func can(_ subject: String?, _ right: String, _ name: String) throws(ClientError) -> Bool {
    try call(.can, again: true, Wire.CanParameters(subject: subject, right: right, name: name))
      .decode(Wire.CanReply.self).allowed
  }

  /// The subjects that may do something with the item `name` by grants, whether there is one or not.
  public func access(to name: String) throws(ClientError) -> [Wire.Access] {
    try call(.whoMay, again: true, Wire.WhoMayParameters(name: name)).decode(Wire.WhoMayReply.self).access
  }

  /// Has the grants of a vault that was made from a backup count. Gives how many there are.
  @discardableResult
  public func confirmGrants() throws(ClientError) -> Int {
    try call(.confirmGrants, again: true, Wire.ConfirmGrantsParameters(interactive: attended))
      .decode(Wire.ConfirmGrantsReply.self).grants
  }

  /// Has processes that are a subject which grants have named be like the user's others again.
  public func forgetSubject(_ subject: String) throws(ClientError) {
    _ = try call(
      .forgetSubject, again: false, Wire.ForgetSubjectParameters(subject: subject, interactive: attended)
    ).decode(Wire.Empty.self)
  }
}
