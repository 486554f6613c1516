internal import VaultModel
internal import VaultService

/// Requests that wait for the vault, or for a person: SSH's protocol knows no error that says so, and its clients wait.
extension SSHAgentConnection {
  /// The longest time that a request waits for a person, in nanoseconds.
  private static let longest: Int64 = 120_000_000_000

  /// Makes a call, and makes it again after what it waits for. It ends when the client closes the connection, which takes back
  /// what a person is asked.
  func wait(_ said: Said, _ call: @escaping () throws(Refusal) -> Wait?) {
    do throws(Refusal) {
      if let wait = try call() { try hold(wait, said, call) }
    } catch {
      settle(error, said, call)
    }
  }

  private func settle(_ refusal: Refusal, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?) {
    guard case .presenceRequired(let name, let requirement) = refusal else { return refuse(refusal.reasonWithoutNames) }
    holdForPresence(name, requirement, said, call)
  }

  private func hold(
    _ wait: Wait, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) throws(Refusal) {
    guard let caller else { return }
    let joined: Attendance.Joined?
    let giveUp = { [weak self] (_: Waiter.End) in self?.refuse("nobody has answered") ?? () }
    switch wait {
    case .unlock: joined = door.attendance.joinUnlock(caller, said, waitsAnyway: false, giveUp: giveUp)
    case .approval(let number): joined = door.attendance.joinApproval(number, caller, said, giveUp: giveUp)
    case .bootKey: joined = nil
    case .room, .presence: throw .busy("this cannot be waited for")
    }
    try hold(wait, joined, call, said)
  }

  private func holdForPresence(
    _ name: String, _ requirement: Requirement, _ said: Said, _ call: @escaping () throws(Refusal) -> Wait?
  ) {
    guard let caller, let item = try? ItemName(name) else { return refuse("presence is required") }
    let joined = door.attendance.joinPresence(item, requirement, caller, said) { [weak self] _ in
      self?.refuse("nobody has shown to be there")
    }
    do throws(Refusal) {
      guard case .waits(let waiter) = joined else { throw .denied("nobody can be asked to show presence") }
      try hold(.presence(waiter.inquiry), joined, call, said)
    } catch {
      refuse(error.reasonWithoutNames)
    }
  }

  private func hold(
    _ wait: Wait, _ joined: Attendance.Joined?, _ call: @escaping () throws(Refusal) -> Wait?, _ said: Said
  ) throws(Refusal) {
    switch joined {
    case nil: waiter = nil
    case .waits(let joined): waiter = joined
    case .isDismissed: throw .cancelled
    case .nobody: throw .denied("nobody can be asked now")
    }
    guard let line else { return }
    waitsForItem = wait != .unlock
    attempt = Attempt(for: wait, in: door.vault.waiting, line, within: Self.longest, door.timer) { [weak self] in
      self?.refuse("the time to wait is up")
    } _: { [weak self] in
      guard let self, isStillAsking else { return nil }
      // It may have to wait for something else next.
      waiter = nil
      self.wait(said, call)
      return nil
    }
  }
}
