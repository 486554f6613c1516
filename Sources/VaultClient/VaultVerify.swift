public import VaultAPI

extension Vault {
  /// Has every record of the store checked, or joins a check that is under way, and hands over how far it is and what is
  /// found, as it comes.
  ///
  /// It takes as long as there are records, some hundred thousand a second, and keeps nobody else waiting. While the vault
  /// is locked it goes as far as the keys in the daemon's memory allow: see ``Wire/Verification/unchecked``.
  public func verify(_ each: (Wire.VerifyReply) throws -> Void) throws -> Wire.Verification {
    var replies = try stream(.verify, timeout: timeout, Wire.Empty())
    while let response = try replies.next(timeout: timeout) {
      let reply = try response.decode(Wire.VerifyReply.self)
      try each(reply)
      if let result = reply.result { return result }
    }
    throw ClientError.protocolViolation("Verify ended without a result")
  }
}
