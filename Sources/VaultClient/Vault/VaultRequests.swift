public import VaultWire

extension Vault {
  /// An administrator's yes to a request. By default it counts once, within five minutes.
  public struct Approval: Sendable {
    /// The number of times that the approval counts; without ``seconds``, within a day.
    public var uses: Int?
    /// The seconds for which the approval counts, on a clock that runs while the machine sleeps.
    public var seconds: Int?
    /// The pid of the process that asked last, as ``Vault/requests()`` showed it. The approval is for that process
    /// alone, until any lock.
    public var session: Int?
    /// The start time of that process, as ``Vault/requests()`` showed it, so that no later process with its pid gets
    /// the approval. Daemons before 2026-12 do not know this parameter.
    public var started: Int?
    /// True to make a grant, until ``seconds`` have passed.
    public var always: Bool

    /// Makes an approval; without arguments it has the default terms.
    public init(
      uses: Int? = nil, seconds: Int? = nil, session: Int? = nil, started: Int? = nil, always: Bool = false
    ) {
      (self.uses, self.seconds, self.session, self.started) = (uses, seconds, session, started)
      self.always = always
    }
  }

  /// Returns the requests that wait for an answer, the approvals that count now, and the denials because of which
  /// nobody is asked. For administrators.
  public func requests() throws(ClientError) -> [Wire.Request] { try requestsAndPrompts().requests }

  /// Returns the same as ``requests()``, and the prompts of programs that use the Secret Service. For administrators.
  public func requestsAndPrompts() throws(ClientError) -> (requests: [Wire.Request], prompts: [Wire.KeyringPrompt]) {
    try gather(.requests, Wire.Empty()) { replies throws(ClientError) in
      var found: (requests: [Wire.Request], prompts: [Wire.KeyringPrompt]) = ([], [])
      var size = AnswerSize(limit: longestReport)
      while let response = try replies.next(timeout: timeout) {
        try size.add(response)
        let reply = try response.decode(Wire.RequestsReply.self)
        found.requests += reply.requests
        found.prompts += reply.prompts ?? []
      }
      return found
    }
  }

  /// Refuses the prompt with this number: its program is told that a person does not want it, and may delete what it
  /// cannot decrypt. For administrators.
  @discardableResult
  public func refuse(_ number: Int) throws(ClientError) -> Wire.KeyringPrompt {
    try call(.refuse, again: false, Wire.RefuseParameters(number: number, interactive: attended))
      .decode(Wire.RefuseReply.self).prompt
  }

  /// Approves the request with this number. In a user's vault, call ``authenticateForGrants(answer:)`` first.
  @discardableResult
  public func approve(_ number: Int, _ approval: Approval = Approval()) throws(ClientError) -> Wire.ApproveReply {
    try call(
      .approve, again: false,
      Wire.ApproveParameters(
        number: number, uses: approval.uses, for: approval.seconds, session: approval.session == nil ? nil : true,
        pid: approval.session, started: approval.started, always: approval.always ? true : nil, interactive: attended)
    ).decode()
  }

  /// Denies the request with this number, or revokes an approval. Nobody is asked about the request again for a while
  /// or, with `always`, until ``forgetDenial(of:_:)``.
  @discardableResult
  public func deny(_ number: Int, always: Bool = false) throws(ClientError) -> Wire.DenyReply {
    try call(
      .deny, again: false,
      Wire.DenyParameters(number: number, always: always ? true : nil, interactive: attended)
    ).decode()
  }

  /// Lets a subject that was denied the item `name` ask for it again.
  public func forgetDenial(of subject: String, _ name: String) throws(ClientError) {
    _ = try call(
      .forgetDenial, again: false,
      Wire.ForgetDenialParameters(subject: subject, name: name, interactive: attended)
    ).decode(Wire.Empty.self)
  }
}
