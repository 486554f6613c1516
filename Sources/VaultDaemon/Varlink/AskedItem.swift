internal import VaultModel
internal import VaultService

/// A call about one item, which may have to wait until the vault is open.
protocol AskedItem {
  var name: ItemName { get }
  /// The requested action, and the caller's own words for it.
  var action: AuditAction { get }
  var said: Said { get }
  /// True if the call waits for a person only when an agent can ask one.
  var asks: Bool { get }
  /// The time until which the call waits for an unlock or for an administrator's answer, in nanoseconds of
  /// `CLOCK_MONOTONIC`; nil if it does not wait.
  var end: Int64? { get }
  /// Sends the answer, or returns what must happen first. That includes room for the answer, if it may have more than
  /// `longest` bytes.
  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo longest: Int) throws(Refusal) -> Wait?
}

extension VarlinkDoor {
  /// The longest time that a call waits for a person, in milliseconds.
  private static let longestWait = 86_400_000
  /// The time that a call waits for a person whom an agent asks, unless the call gives another, in milliseconds.
  private static let usualWait = 120_000

  /// Returns the end of a wait of this many milliseconds, in nanoseconds of `CLOCK_MONOTONIC`; nil for no wait.
  static func end(ofWait milliseconds: Int?, asks: Bool, _ clock: Clock) -> Int64? {
    guard let milliseconds = milliseconds ?? (asks ? usualWait : nil), milliseconds > 0 else { return nil }
    return clock.monotonic() + Int64(min(milliseconds, longestWait)) * 1_000_000
  }

  /// Answers a call now, or holds it until it can be answered.
  func send(_ asked: some AskedItem, _ connection: VarlinkConnection) {
    vault.audit.isAbout(asked.action, asked.name.text, asked.said, for: connection.caller)
    send(asked, connection, upTo: longest(connection))
  }

  private func send(_ asked: some AskedItem, _ connection: VarlinkConnection, upTo longest: Int) {
    answer(connection) { () throws(Refusal) in
      do throws(Refusal) {
        if let wait = try asked.send(self, connection, upTo: longest) { try hold(wait, asked, connection) }
      } catch {
        guard case .presenceRequired(_, let requirement) = error, asked.end != nil else { throw error }
        try holdForPresence(requirement, orElse: error, asked, connection)
      }
    }
  }

  /// The most bytes of an answer that is sent before other clients have had their turn, and without waiting for room.
  private func longest(_ connection: VarlinkConnection) -> Int {
    turns.isLong || turns.isAwaited || plaintext.mustWait(connection.plaintextClient) ? Plaintext.small / 2 : .max
  }

  /// Makes a long answer wait for its turn in the line of works, and for room.
  private func waitForRoom(_ asked: some AskedItem, _ connection: VarlinkConnection) {
    vault.audit.waits(for: connection.caller)
    let number = plaintext.wait(connection.plaintextClient) { [weak self, weak connection] in
      if let self, let connection, connection.isStillAsking { send(asked, connection, upTo: .max) }
    }
    connection.hold { [plaintext] in plaintext.remove(number) }
    connection.current.holdsName = true
  }

  /// Holds a call that waits. It waits for the boot key and for room without a limit, and for a person as long as the
  /// call says.
  private func hold(_ wait: Wait, _ asked: some AskedItem, _ connection: VarlinkConnection) throws(Refusal) {
    var limit: Int64?
    var late = Refusal.timedOut
    var waiter: Waiter?
    weak var held: Attempt?
    let giveUp = { [weak self, weak connection] (end: Waiter.End, refusal: Refusal) in
      guard asked.asks, let self, let connection, connection.isStillAsking else { return }
      held?.callOff()
      connection.fail(self.give(up: asked, end == .dismissed ? .cancelled : refusal, connection))
    }
    switch wait {
    case .room: return waitForRoom(asked, connection)
    case .bootKey, .presence, .signature: break
    case .unlock:
      limit = try left(asked, orElse: vault.locked, late, connection)
      let joined = attendance.joinUnlock(connection.caller, asked.said, waitsAnyway: !asked.asks) { [vault] in
        giveUp($0, vault.locked)
      }
      waiter = try self.waiter(joined, asked, orElse: vault.locked, connection)
    case .approval(let number):
      late = .unanswered(number)
      limit = try left(asked, orElse: .unapproved(number), late, connection)
      if asked.asks {
        let joined = attendance.joinApproval(number, connection.caller, asked.said) { giveUp($0, .unapproved(number)) }
        waiter = try self.waiter(joined, asked, orElse: .unapproved(number), connection)
      }
    }
    let attempt = Attempt(for: wait, in: vault.waiting, connection.share.answers, within: limit, timer) {
      [weak self, weak connection] in
      guard let self, let connection else { return }
      connection.fail(give(up: asked, late, connection))
    } _: { [weak self, weak connection] in
      guard let self, let connection, connection.isStillAsking else { return nil }
      var next: Wait?
      answer(connection) { () throws(Refusal) in
        do throws(Refusal) { next = try asked.send(self, connection, upTo: longest(connection)) } catch {
          guard case .presenceRequired(_, let requirement) = error else { throw error }
          return try holdForPresence(requirement, orElse: error, asked, connection)
        }
        guard let other = next, other != wait else { return }
        next = nil
        try hold(other, asked, connection)
      }
      return next
    }
    held = attempt
    vault.audit.waits(for: connection.caller)
    // The closure keeps the waiter until the call ends, however it ends.
    connection.hold { withExtendedLifetime(waiter) { attempt.callOff() } }
    // Administrators know the call by the item's name, which a lock may hide.
    switch wait {
    case .approval, .signature: connection.current.holdsName = true
    case .unlock, .bootKey, .room, .presence: break
    }
  }

  /// Holds a call whose item requires presence, while agents ask a person for it.
  private func holdForPresence(
    _ requirement: Requirement, orElse refusal: Refusal, _ asked: some AskedItem, _ connection: VarlinkConnection
  ) throws(Refusal) {
    let limit = try left(asked, orElse: refusal, .timedOut, connection)
    weak var held: Attempt?
    let joined = attendance.joinPresence(asked.name, requirement, connection.caller, asked.said) {
      [weak self, weak connection] end in
      guard let self, let connection, connection.isStillAsking else { return }
      held?.callOff()
      connection.fail(give(up: asked, end == .dismissed ? .cancelled : refusal, connection))
    }
    let waiter: Waiter
    switch joined {
    case .waits(let joined): waiter = joined
    case .isDismissed: throw give(up: asked, .cancelled, connection)
    case .nobody: throw refusal
    }
    let attempt = Attempt(
      for: .presence(waiter.inquiry), in: vault.waiting, connection.share.answers, within: limit, timer
    ) { [weak self, weak connection] in
      guard let self, let connection else { return }
      connection.fail(give(up: asked, .timedOut, connection))
    } _: { [weak self, weak connection] in
      if let self, let connection, connection.isStillAsking { send(asked, connection) }
      return nil
    }
    held = attempt
    vault.audit.waits(for: connection.caller)
    connection.hold { withExtendedLifetime(waiter) { attempt.callOff() } }
    // Agents know the call by the item's name.
    connection.current.holdsName = true
  }

  /// Returns the call's place among those for which agents ask a person; nil if the call waits without an agent.
  ///
  /// - Throws: the refusal of a call that waits only for an agent's question, when no agent asks.
  private func waiter(
    _ joined: Attendance.Joined, _ asked: some AskedItem, orElse refusal: Refusal, _ connection: VarlinkConnection
  ) throws(Refusal) -> Waiter? {
    switch joined {
    case .waits(let waiter): return waiter
    case .isDismissed: if asked.asks { throw give(up: asked, .cancelled, connection) }
    case .nobody: if asked.asks { throw give(up: asked, refusal, connection) }
    }
    return nil
  }

  /// Returns the nanoseconds for which a call may still wait for a person.
  ///
  /// - Throws: the refusal of a call that does not wait, or waits no longer.
  private func left(
    _ asked: some AskedItem, orElse refusal: Refusal, _ late: Refusal, _ connection: VarlinkConnection
  ) throws(Refusal) -> Int64 {
    guard let end = asked.end else { throw give(up: asked, refusal, connection) }
    let left = end - vault.clock.monotonic()
    guard left > 0 else { throw give(up: asked, late, connection) }
    return left
  }

  /// Records and returns the refusal of a call that waits no longer.
  private func give(up asked: some AskedItem, _ refusal: Refusal, _ connection: VarlinkConnection) -> Refusal {
    items.gaveUp(asked.action, asked.name, refusal, for: connection.caller, asked.said)
    return refusal
  }
}
