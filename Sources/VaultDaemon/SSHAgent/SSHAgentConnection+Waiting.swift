internal import VaultModel
internal import VaultService

/// Requests that wait for the vault or for a person. SSH's protocol has no error for that, and its clients wait.
extension SSHAgentConnection {
  /// The longest time that a request waits for a person, in nanoseconds.
  private static let longest: Int64 = 120_000_000_000

  /// Makes a call, and repeats it once its wait is over. The wait ends when the client closes the connection, which
  /// also withdraws the question to a person.
  ///
  /// - Parameter said: the text for a person, evaluated only when a person is asked.
  func wait(_ said: @escaping @autoclosure () -> Said, _ call: @escaping () throws(Refusal) -> Wait?) {
    do throws(Refusal) {
      if let wait = try call() { try hold(wait, said(), call) }
    } catch {
      settle(error, said(), call)
    }
  }

  private func settle(_ refusal: Refusal, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?) {
    guard case .presenceRequired(let name, let requirement) = refusal else {
      return refuse(refusal.reasonWithoutNames, refusal.outcome)
    }
    holdForPresence(name, requirement, said, call)
  }

  private func hold(
    _ wait: Wait, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) throws(Refusal) {
    guard let caller else { return }
    let giveUp = { [weak self] (_: Waiter.End) in
      self?.refuse("nobody has answered", Self.outcome(withoutAnAnswerTo: wait)) ?? ()
    }
    switch wait {
    case .unlock:
      waiter = try place(door.attendance.joinUnlock(caller, said, waitsAnyway: false, giveUp: giveUp))
    case .approval(let number):
      waiter = try place(door.attendance.joinApproval(number, caller, said, giveUp: giveUp))
    case .bootKey, .signature: waiter = nil
    case .room, .presence: throw .busy("this cannot be waited for")
    }
    begin(wait, for: wait == .unlock ? .unlock : .item, said, call)
  }

  private func holdForPresence(
    _ name: String, _ requirement: Requirement, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) {
    guard let caller, let item = try? ItemName(name) else { return refuse("presence is required", .presence) }
    let joined = door.attendance.joinPresence(item, requirement, caller, said) { [weak self] _ in
      self?.refuse("nobody has shown to be there", .presence)
    }
    hold(joined, for: .item, said, call)
  }

  /// Makes a call once a person has allowed this use of a key.
  func waitForConfirmation(of key: SessionKey, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?) {
    guard let caller else { return }
    let joined = door.attendance.joinConfirmation(of: key.fingerprint, caller, said) { [weak self] _ in
      self?.refuse("nobody has allowed this use of the key")
    }
    hold(joined, for: .use(key), said, call)
  }

  /// Makes a call once the person who is asked has answered, or refuses the request if nobody can be asked.
  private func hold(
    _ joined: Attendance.Joined, for awaited: Awaited, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) {
    do throws(Refusal) {
      let waiter = try place(joined)
      self.waiter = waiter
      begin(.presence(waiter.inquiry), for: awaited, said, call)
    } catch {
      refuse(error.reasonWithoutNames, error.outcome)
    }
  }

  /// Returns the caller's place among those who wait.
  private func place(_ joined: Attendance.Joined) throws(Refusal) -> Waiter {
    switch joined {
    case .waits(let waiter): return waiter
    case .isDismissed: throw .cancelled
    case .nobody: throw .denied("nobody can be asked now")
    }
  }

  /// The outcome of a request when its wait ended without an answer.
  private static func outcome(withoutAnAnswerTo wait: Wait) -> AuditOutcome {
    switch wait {
    case .unlock, .bootKey, .room: .locked
    case .approval: .denied
    case .signature: .failed
    case .presence: .presence
    }
  }

  private func begin(
    _ wait: Wait, for awaited: Awaited, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) {
    guard let line, let caller else { return }
    door.vault.audit.waits(for: caller)
    self.awaited = awaited
    attempt = Attempt(for: wait, in: door.vault.waiting, line, within: Self.longest, door.timer) { [weak self] in
      self?.refuse("the time to wait is up", Self.outcome(withoutAnAnswerTo: wait))
    } _: { [weak self] in
      guard let self else { return nil }
      guard isStillAsking else {
        close()
        return nil
      }
      guard !door.lock.isLocked else {
        refuse("the agent was locked meanwhile", .locked)
        return nil
      }
      // The call may have to wait for something else next.
      (waiter, self.awaited) = (nil, .nothing)
      self.wait(said, call)
      return nil
    }
  }
}
