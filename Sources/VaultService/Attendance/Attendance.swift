internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The agents that attend people's sessions, and the inquiries that they put to people.
///
/// Attendance answers nothing itself. An agent unlocks, shows presence, approves or denies like any other client, and
/// the first agent that does so ends the inquiry for all.
package final class Attendance: SecretHolder {
  /// The most agents of one uid, and of all uids.
  static let (mostOfOne, most) = (8, 32)
  /// The most presence inquiries for the calls of one uid, and for all calls.
  static let (mostPresenceOfOne, mostPresence) = (16, 64)
  /// The part of these inquiries that calls without a time limit may open, as a divisor, so that other calls find room.
  static let endlessPart = 2
  /// The most confirmations that calls wait for.
  static let mostConfirmations = 16
  /// The time for which nobody is asked again after a dismissal, and the pause between two rounds of changes sent to
  /// agents, in nanoseconds.
  static let (coolDown, pause): (Int64, Int64) = (60 * 1_000_000_000, 250_000_000)
  /// The most bytes in the name of an agent's interface, and the most such names of one agent.
  static let (longestFace, mostFaces) = (32, 8)
  /// The time before a lock at which agents are warned of it, in nanoseconds.
  static let warning: Int64 = 30 * 1_000_000_000

  let vault: Vault
  let access: Access
  let items: Items
  let timer: Timer
  /// The agents, in the order in which they connected.
  package private(set) var agents: [Agent] = []
  var inquiries: Inquiries { vault.questions.inquiries }
  private var nextAgent = 1
  /// The number of confirmations asked for so far.
  var nextUse = 0
  /// Cancels the timer after which agents are told of changes.
  var telling: Timer.Cancel?
  /// The time at which agents were last told of changes, in `CLOCK_MONOTONIC` nanoseconds.
  var lastTold = Int64.min / 2
  /// The inquiries of which an agent is to be told, in this order; see ``Agent/due``.
  var due: [QuestionNumber] = []
  /// The line of the turns in which agents are told.
  let line = Line(of: nil)
  /// True while a turn of ``line`` is awaited.
  var isTelling = false
  /// Cancels the timer after which agents are told of the calls that came within the pause after a dismissal.
  var cooling: Timer.Cancel?

  package init(_ vault: Vault, _ access: Access, _ items: Items, _ timer: Timer) {
    (self.vault, self.access, self.items, self.timer) = (vault, access, items, timer)
    super.init(in: vault.holders)
    vault.hooks.warnsOfLocks = { [unowned self] in agents.isEmpty ? nil : Self.warning }
    vault.hooks.willLock = { [unowned self] in tell(.notice(.locking($0.reason, at: $0.time))) }
    vault.hooks.unlockFailed = { [unowned self] caller in
      guard !agents.isEmpty else { return }
      tell(.notice(.failedUnlock(Asker(caller, isSystem: access.terms.isSystem))))
    }
  }

  // MARK: Agents

  /// Adds an agent that attends from now on.
  ///
  /// - Returns: the agent, with its number.
  /// - Throws: the refusal if `faces` are not valid, if the caller may not attend, or if there are too many agents. The
  ///   refusal is recorded in the audit log, except for invalid `faces`.
  package func attend(
    _ faces: [String], for caller: Caller, refused: @escaping (Refusal) -> Void,
    send: @escaping (AttendanceEvent) -> Bool
  ) throws(Refusal) -> Agent {
    guard !faces.isEmpty, faces.count <= Self.mostFaces, faces.allSatisfy(Self.isFace) else { throw .invalid("faces") }
    let words = faces.joined(separator: " ")
    return try vault.audit.recording(.attend, caller, nil, detail: words, needs: .nothing) { () throws(Refusal) in
      try access.checkOpener(caller)
      guard caller.started != nil else {
        throw .denied("the start time of this process is unknown, so a later process with its pid could pass for it")
      }
      let own = agents.filter { $0.caller.uid == caller.uid }
      // The new agent is added before an earlier one ends, so that calls for which only the new one can ask keep
      // waiting.
      var leaving: Agent?
      if own.count >= Self.mostOfOne {
        leaving = try agentToDisplace(among: own)
      } else if agents.count >= Self.most {
        leaving = try agentToDisplace(among: agents)
      }
      let agent = Agent(
        nextAgent, caller, Asker(caller, isSystem: access.terms.isSystem), faces, since: vault.clock.wall(), refused,
        send)
      nextAgent += 1
      agents.append(agent)
      if let leaving {
        end(leaving)
        leaving.refused(Self.full)
      }
      vault.armNext()
      return agent
    }
  }

  private static let full = Refusal.busy("as many agents attend as the vault allows")

  /// Returns the agent that gives way: one of the process that has the most agents, so that no process keeps out the
  /// agents of other processes.
  ///
  /// - Throws: the refusal if no process has more than one agent.
  private func agentToDisplace(among agents: [Agent]) throws(Refusal) -> Agent {
    func count(_ agent: Agent) -> Int { agents.count { $0.isProcess(of: agent.caller) } }
    guard let most = agents.max(by: { count($0) < count($1) }), count(most) > 1 else { throw Self.full }
    return most
  }

  /// Tells an agent that has just connected of all open inquiries, of some at once and of the rest in later turns.
  package func begin(_ agent: Agent) {
    guard agent.send(.attending(agent.number)) else { return }
    // Calls that wait anyway were put off, by a person who may not be the one who comes now.
    for inquiry in inquiries.all { inquiry.isQuiet = false }
    tellWhenCool()
    vault.hooks.attended()
    for request in access.requests.pending where inquiries[request.number] == nil {
      if !isCooling(.approval(request.number)) { inquiries.open(request.number, .approval(request.number)) }
    }
    for inquiry in inquiries.all.sorted(by: { $0.number < $1.number }) { owe(inquiry, to: [agent]) }
    tellDue()
  }

  private static func isFace(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestFace && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
  }

  /// Removes an agent that has gone away. Calls for which no other agent can ask stop waiting, unless they wait anyway.
  package func end(_ agent: Agent) {
    guard let index = agents.firstIndex(where: { $0 === agent }) else { return }
    agents.remove(at: index)
    vault.audit.record(.attend, .ok, agent.caller, detail: "ended")
    for inquiry in inquiries.all { checkSomebodyCanAsk(inquiry.number) }
    if agents.isEmpty { vault.armNext() }
  }

  /// Ends the calls of the agents that may no longer attend. All of them end before the first is told, so that their
  /// entries are written together.
  package func reconsider() {
    let leaving = agents.filter { !awaitsDigest(of: $0) && (try? access.checkOpener($0.caller)) == nil }
    for agent in leaving { end(agent) }
    for agent in leaving { agent.refused(.denied("your right to attend was revoked")) }
  }

  /// True if the rights of an agent's process cannot be decided yet. Once they can, the agent is told what it may hear.
  func awaitsDigest(of agent: Agent) -> Bool {
    guard access.awaitsDigest(of: agent.caller) else { return false }
    guard !agent.isAwaited else { return true }
    agent.isAwaited = true
    agent.caller.memory.whenDigestIsKnown { [weak self, weak agent] in
      guard let self, let agent else { return }
      agent.isAwaited = false
      reconsider()
      guard agents.contains(where: { $0 === agent }) else { return }
      for inquiry in inquiries.all where !inquiry.isQuiet && !agent.told.contains(inquiry.number) {
        owe(inquiry, to: [agent])
      }
      tellDue()
      for inquiry in inquiries.all { checkSomebodyCanAsk(inquiry.number) }
    }
    return true
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) {
    guard lock.reach.contains(.names) else { return }
    for inquiry in inquiries.all where inquiry.matter != .unlock { close(inquiry.number, .gone) }
    inquiries.forgetNames()
  }

  override package func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.names) && inquiries.mayHoldNames }
}
