public import VaultWire

extension Vault {
  /// Gives the vault a new key and waits until everything is sealed anew under it, which goes on without this call, too.
  /// When it is under way already, nothing is asked.
  ///
  /// - Parameters:
  ///   - method: what proves the right to: `password`, `recovery` or `login`.
  ///   - answer: is asked for the secret, for other passwords to keep, and shown new recovery codes.
  ///   - progress: gets the slots that come along and those that do not, once, and how far it is, now and then.
  public func rekey(
    method: String? = nil, answer: Answer, progress: (Wire.RekeyReply) throws -> Void
  ) throws {
    var replies = try stream(.rekey, timeout: keyTimeout, Wire.RekeyParameters(method: method))
    var rules = PromptRules(makesCode: true, most: PromptRules.mostOfRekey)
    while let (reply, continues) = try converse(&replies, as: Wire.RekeyReply.self, &rules, answer) {
      try progress(reply)
      if !continues { return }
    }
    throw ClientError.protocolViolation("a rekey without an end")
  }

  /// Gives up the rekey that is under way; false when there is none.
  @discardableResult
  public func cancelRekey() throws -> Bool {
    var replies = try stream(.rekey, timeout: timeout, Wire.RekeyParameters(cancel: true))
    guard let response = try replies.next(timeout: timeout) else { throw ClientError.protocolViolation("no reply") }
    let reply: Wire.RekeyReply = try response.decode()
    return reply.cancelled ?? false
  }
}
