internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess
internal import VaultService
internal import VaultWire

// Status and Reload.
extension VarlinkDoor {
  func status(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    var isWanted = true
    connection.hold(withName: false) { isWanted = false }
    guard access.isAdministrator(connection.caller) else {
      return connection.reply(limitedStatus)
    }
    ways.methods(for: connection.caller.uid) { [unowned self] methods in
      whenKeysAreRead(connection) { [unowned self] in
        if isWanted { connection.reply(status(methods, for: connection.caller)) }
      }
    }
  }

  /// Runs `work` now, or in a turn once the keys that the status counts have been read.
  private func whenKeysAreRead(_ connection: VarlinkConnection, _ work: @escaping () -> Void) {
    let line = connection.share.works
    let later: () -> Void = { [weak self] in
      self?.turns.wait(line) { [weak self] in self?.whenKeysAreRead(connection, work) }
    }
    if canCountKeys(line, later) { work() }
  }

  func reload(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let change = try reload(connection.caller)
      connection.reply(
        Wire.ReloadReply(file: change.path, missing: change.isMissing, changed: change.changed, later: change.later))
    }
  }

  /// The part of the status that everybody may know.
  private var limitedStatus: Wire.StatusReply {
    let state = vault.state
    return Wire.StatusReply(
      state: state.kind.rawValue, cause: state.cause.text, since: state.since, locksOn: [],
      namesHidden: vault.hidesNames,
      methods: [], warnings: [], version: ProgramVersion.text, pid: Int(getpid()))
  }

  private func status(_ methods: [WaysIn.Method], for caller: VaultService.Caller) -> Wire.StatusReply {
    let status = upkeep.status()
    return Wire.StatusReply(
      state: status.state.kind.rawValue, cause: status.state.cause.text, since: status.state.since,
      locksAt: status.locksAt?.time, locksBecause: status.locksAt?.reason.rawValue, locksOn: triggers?.watched ?? [],
      vault: status.vaultID?.hex, items: status.items,
      namesHidden: vault.hidesNames,
      integrity: status.integrity.map { Wire.Integrity($0) },
      rekey: status.rekey.map { Wire.Progress(done: $0.done, of: $0.of) }, problem: status.problem,
      store: vault.directory,
      methods: methods.map { Wire.Method($0) },
      warnings: ([refusedSettings(), secrets?.warning].compactMap { $0 } + status.warnings
        + (triggers?.warnings ?? [])).map { Wire.Warning($0) },
      agents: attendance.agents.map { Wire.Agent($0, names) },
      watchers: notices.current.map { Wire.Watcher($0, names) }, requests: access.pendingRequests,
      prompts: access.terms.isSystem ? nil : vault.prompts.begun.count,
      backup: status.vaultID.map { _ in status.lastBackup ?? 0 }, unconfirmed: access.unconfirmedSince,
      sshAgent: sshAgent(caller),
      audit: vault.settings.audit.mode.rawValue, trash: Int(clamping: vault.settings.trash ?? 0),
      version: ProgramVersion.text, pid: Int(getpid()))
  }
}
