public import VaultWire

extension Vault {
  /// Has every record of the store checked, or joins a check that is under way, and hands over how far it is and what is
  /// found, as it comes.
  ///
  /// It takes as long as there are records, some hundred thousand a second, and keeps nobody else waiting. While the vault
  /// is locked it goes as far as the keys in the daemon's memory allow: see ``Wire/Verification/unchecked``.
  public func verify(_ each: (Wire.VerifyReply) throws -> Void) throws -> Wire.Verification {
    var replies = try stream(.verify, timeout: timeout, Wire.Empty())
    var size = AnswerSize(limit: longestReport)
    while let response = try replies.next(timeout: timeout) {
      let reply = try response.decode(Wire.VerifyReply.self)
      if !reply.findings.isEmpty { try size.add(response) }
      try each(reply)
      if let result = reply.result { return result }
    }
    throw ClientError.protocolViolation("Verify ended without a result")
  }

  /// Sets the newest time that the store knows back to the clock, where that is behind.
  public func repairClock() throws(ClientError) -> Wire.RepairClockReply {
    try call(.repairClock, again: true, Wire.RepairClockParameters(interactive: attended))
      .decode(Wire.RepairClockReply.self)
  }

  /// Has what still authenticates of a damaged store saved aside, for ``backup(salvaged:cancellation:begin:write:)``, and
  /// hands over how far it is and what is lost, as it comes. Gives how many items were saved, and how many losses there are
  /// beside those that were handed over.
  public func salvage(_ each: (Wire.SalvageReply) throws -> Void) throws -> (saved: Int, omitted: Int) {
    var replies = try stream(.salvage, timeout: timeout, Wire.Empty())
    var size = AnswerSize(limit: longestReport)
    while let response = try replies.next(timeout: timeout) {
      let reply = try response.decode(Wire.SalvageReply.self)
      if !reply.losses.isEmpty { try size.add(response) }
      try each(reply)
      if let saved = reply.saved { return (saved, reply.omitted ?? 0) }
    }
    throw ClientError.protocolViolation("Salvage ended without a result")
  }
}
