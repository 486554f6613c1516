public import VaultWire

extension Vault {
  /// Gives the vault a new key and waits until everything is sealed under it. The daemon continues even if this call
  /// ends. When a rekey is already under way, no questions are asked.
  ///
  /// - Parameters:
  ///   - method: the proof of the right to do this: `password`, `recovery` or `login`.
  ///   - answer: asked for the secret and for other passwords to keep, and shown new recovery codes.
  ///   - progress: called once with the slots that are kept and those that are lost, and from time to time with the
  ///     progress.
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

  /// Cancels the rekey that is under way; false when there is none.
  @discardableResult
  public func cancelRekey() throws -> Bool {
    var replies = try stream(.rekey, timeout: timeout, Wire.RekeyParameters(cancel: true))
    guard let response = try replies.next(timeout: timeout) else { throw ClientError.protocolViolation("no reply") }
    let reply: Wire.RekeyReply = try response.decode()
    return reply.cancelled ?? false
  }
}
