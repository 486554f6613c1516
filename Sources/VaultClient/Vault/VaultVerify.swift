public import VaultWire

extension Vault {
  /// Makes the daemon check every record of the store, or joins a check that is under way. Passes the progress and the
  /// findings to `each` as they come.
  ///
  /// The time depends on the number of records, of which some hundred thousand are checked in a second. Nobody else has
  /// to wait. While the vault is locked, the check covers only records whose keys are in the daemon's memory: see
  /// ``Wire/Verification/unchecked``.
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

  /// Sets the newest time that the store knows back to the clock's time, if the clock is behind.
  public func repairClock() throws(ClientError) -> Wire.RepairClockReply {
    try call(.repairClock, again: true, Wire.RepairClockParameters(interactive: attended))
      .decode(Wire.RepairClockReply.self)
  }

  /// Makes the daemon save the parts of a damaged store that still authenticate, for
  /// ``backup(salvaged:cancellation:begin:told:write:keep:)``. Passes the progress and the losses to `each` as they
  /// come. Returns the number of saved items, and the number of losses that were not passed on.
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
