internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Rekey, Verify, Salvage and RepairAudit.
extension VarlinkDoor {
  func rekey(_ call: Wire.RekeyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    if call.cancel == true {
      return answer(connection) { () throws(Refusal) in
        connection.reply(Wire.RekeyReply(cancelled: try upkeep.cancelRekey(for: connection.caller)))
      }
    }
    let reader: RekeyWork.Reader = reader(connection) { progress in
      Wire.RekeyReply(done: progress.done, of: progress.of)
    } end: { connection, progress in
      connection.reply(Wire.RekeyReply(done: progress.done, of: progress.of))
    }
    let prompter = prompter(connection) { [upkeep] result in
      // The call continues, but asks no more questions.
      connection.hold(withName: false) { upkeep.leaveRekey(reader.id) }
      guard case .rekeying(let begun?) = result else { return }
      let reply = Wire.RekeyReply(
        done: 0, of: begun.of, slots: begun.slots.map(Int.init), leftOut: begun.leftOut.map(Int.init))
      connection.reply(reply, continues: true)
    }
    upkeep.rekey(call.method, prompter, reader)
  }

  func verify(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let reader: Check.Reader = reader(connection) {
        Wire.VerifyReply(progress: Wire.Integrity($0))
      } end: {
        [vault] connection, result in
        let report = Report(result.findings, to: connection, in: vault.holders) {
          Wire.VerifyReply(findings: $0)
        } last: {
          Wire.VerifyReply(result: Wire.Verification(result))
        }
        connection.hold(withName: false) { report.callOff() }
        report.send()
      }
      try upkeep.check.wait(reader)
      connection.hold(withName: false) { [upkeep] in upkeep.check.leave(reader.id) }
    }
  }

  func salvage(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let reader: SalvageWork.Reader = reader(connection) { progress in
        let progress = Wire.Integrity(state: "salvaging", done: progress.done, of: progress.of)
        return Wire.SalvageReply(progress: progress)
      } end: { [vault] connection, result in
        let report = Report(result.losses, to: connection, in: vault.holders) {
          Wire.SalvageReply(losses: $0)
        } last: {
          Wire.SalvageReply(saved: result.saved, omitted: result.omitted)
        }
        connection.hold(withName: false) { report.callOff() }
        report.send()
      }
      try upkeep.salvage(reader, for: connection.caller)
      connection.hold(withName: false) { [upkeep] in upkeep.dropSalvage() }
    }
  }

  func repairAudit(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let aside = try upkeep.repairAudit(for: connection.caller).map {
        Wire.AuditAside(first: Int($0.first), last: Int($0.last), since: $0.since, until: $0.until)
      }
      connection.reply(Wire.RepairAuditReply(aside: aside))
    }
  }

  /// Makes a reader that sends the progress of some work, and its result, to the caller.
  private func reader<Progress, Outcome>(
    _ connection: VarlinkConnection, tell: @escaping (Progress) -> some WireValue,
    end: @escaping (VarlinkConnection, Outcome) -> Void
  ) -> Reader<Progress, Outcome> {
    Reader(ObjectIdentifier(connection)) { [weak connection] in
      connection?.isKeepingUp ?? false
    } tell: { [weak connection] progress in
      connection?.reply(tell(progress), continues: true)
    } end: { [weak connection] outcome in
      guard let connection else { return }
      switch outcome {
      case .success(let outcome): end(connection, outcome)
      case .failure(let refusal): connection.fail(refusal)
      }
    }
  }
}
