internal import Glibc
internal import VaultModel
internal import VaultService
internal import VaultWire

// Status and Monitor.
extension VarlinkDoor {
  func status(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    vault.openStore(because: .repaired)
    var isWanted = true
    connection.hold { isWanted = false }
    guard access.isAdministrator(connection.caller) else {
      return connection.reply(limitedStatus)
    }
    ways.methods(for: connection.caller.uid) { [unowned self] methods in
      if isWanted { connection.reply(status(methods)) }
    }
  }

  /// What everybody may know.
  private var limitedStatus: Wire.StatusReply {
    let state = vault.state
    return Wire.StatusReply(
      state: state.kind.rawValue, cause: state.cause.text, since: state.since, locksOn: [], methods: [], warnings: [],
      version: Version.text, pid: Int(getpid()))
  }

  private func status(_ methods: [WaysIn.Method]) -> Wire.StatusReply {
    let status = upkeep.status()
    return Wire.StatusReply(
      state: status.state.kind.rawValue, cause: status.state.cause.text, since: status.state.since,
      locksAt: status.locksAt?.time, locksBecause: status.locksAt?.reason.rawValue, locksOn: triggers?.watched ?? [],
      vault: status.vaultID?.hex, items: status.items,
      integrity: status.integrity.map { Wire.Integrity($0) },
      rekey: status.rekey.map { Wire.Progress(done: $0.done, of: $0.of) }, problem: status.problem,
      methods: methods.map { Wire.Method($0) },
      warnings: ([refusedSettings].compactMap { $0 } + status.warnings + (triggers?.warnings ?? [])).map {
        Wire.Warning($0)
      },
      agents: attendance.agents.map { Wire.Agent($0) },
      requests: access.pendingRequests, version: Version.text, pid: Int(getpid()))
  }

  func monitor(_: Wire.MonitorParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    switch items.mayWatchAnything(connection.caller) {
    case nil: return connection.fail(Refusal.locked(vault.state))
    case false: return connection.fail(Refusal.denied("you may watch nothing here"))
    case true: break
    }
    let id = ObjectIdentifier(connection)
    connection.hold { [weak self] in self?.events.remove(id) }
    connection.reply(Wire.MonitorReply(.state(vault.state), at: vault.clock.wall()), continues: true)
    events.add(id) { [items, access, weak connection] name in
      guard let caller = connection?.caller else { return false }
      return name.map { items.mayWatch($0, caller) } ?? access.isAdministrator(caller)
    } mayStay: { [items, weak connection] in
      guard let connection else { return false }
      if items.mayWatchAnything(connection.caller) != false { return true }
      connection.fail(Refusal.denied("what let you watch was revoked"))
      return false
    } send: { [weak connection] messages in
      guard let connection else { return false }
      // A client that does not read is cut off: a stream with holes would be worse.
      guard connection.isKeepingUp else {
        connection.close()
        return false
      }
      connection.stream(messages)
      return !connection.isClosing
    }
  }
}
