internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The agents that attend people's sessions, and what people are wanted for.
///
/// It answers nothing itself: an agent unlocks, shows presence, approves or denies as any other client does, and the first
/// that does ends the inquiry for all.
package final class Attendance: SecretHolder {
  /// The most agents of one uid, and of all.
  static let (mostOfOne, most) = (8, 32)
  /// The most presence inquiries that calls of one uid wait for, and all calls.
  static let (mostPresenceOfOne, mostPresence) = (16, 64)
  /// The most confirmations that calls wait for.
  static let mostConfirmations = 16
  /// How long nobody is asked for what a person did not want to answer, and the pause between two tellings of changes, in
  /// nanoseconds.
  static let (coolDown, pause): (Int64, Int64) = (60 * 1_000_000_000, 250_000_000)
  /// The longest word for a face, and the most of them.
  static let (longestFace, mostFaces) = (32, 8)
  /// How long before a lock it is told of, in nanoseconds.
  static let warning: Int64 = 30 * 1_000_000_000

  let vault: Vault
  let access: Access
  let items: Items
  let timer: Timer
  /// In the order of their coming.
  package private(set) var agents: [Agent] = []
  var inquiries: [Int: Inquiry] = [:]
  var numbers: [Inquiry.Matter: Int] = [:]
  /// Until when nobody is asked for that, `CLOCK_BOOTTIME` nanoseconds.
  var dismissals: [Inquiry.Topic: Int64] = [:]
  private var nextAgent = 1
  /// The number of confirmations that were ever asked for.
  var nextUse = 0
  /// What ends the pause before agents are told of changes, and when they were last, `CLOCK_MONOTONIC` nanoseconds.
  var telling: Timer.Cancel?
  var lastTold = Int64.min / 2

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

  /// Takes note that an agent attends; its number.
  ///
  /// - Throws: the refusal of one that may not, or of one too many, which is recorded.
  package func attend(
    _ faces: [String], for caller: Caller, refused: @escaping () -> Void, send: @escaping (AttendanceEvent) -> Bool
  ) throws(Refusal) -> Agent {
    guard !faces.isEmpty, faces.count <= Self.mostFaces, faces.allSatisfy(Self.isFace) else { throw .invalid("faces") }
    let words = faces.joined(separator: " ")
    return try vault.audit.recording(.attend, caller, nil, detail: words, needs: .nothing) { () throws(Refusal) in
      try access.checkOpener(caller)
      guard caller.started != nil else { throw .denied("nothing tells this process from a later one of its number") }
      guard agents.count < Self.most, agents.count(where: { $0.caller.uid == caller.uid }) < Self.mostOfOne else {
        throw .busy("as many agents attend as the vault takes")
      }
      let agent = Agent(
        nextAgent, caller, Asker(caller, isSystem: access.terms.isSystem), faces, since: vault.clock.wall(), refused,
        send)
      nextAgent += 1
      agents.append(agent)
      vault.armNext()
      return agent
    }
  }

  /// Tells an agent that has just come of what is open.
  package func begin(_ agent: Agent) {
    guard agent.send(.attending(agent.number)) else { return }
    for request in access.requests.pending where numbers[.approval(request.number)] == nil {
      if !isCooling(.approval(request.number)) { open(request.number, .approval(request.number)) }
    }
    for inquiry in inquiries.values.sorted(by: { $0.number < $1.number }) { tell(inquiry, to: agent) }
  }

  private static func isFace(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= longestFace && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D }
  }

  /// Takes note that an agent is gone: who waits for it alone waits in vain.
  package func end(_ agent: Agent) {
    guard let index = agents.firstIndex(where: { $0 === agent }) else { return }
    agents.remove(at: index)
    vault.audit.record(.attend, .ok, agent.caller, detail: "ended")
    for number in Array(inquiries.keys) { checkSomebodyCanAsk(number) }
    if agents.isEmpty { vault.armNext() }
  }

  /// Ends those that may attend no more.
  package func reconsider() {
    for agent in agents where (try? access.checkOpener(agent.caller)) == nil {
      end(agent)
      agent.refused()
    }
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) {
    guard lock.reach.contains(.names) else { return }
    for inquiry in Array(inquiries.values) where inquiry.matter != .unlock { close(inquiry.number, .gone) }
    // New tables: one from which something was taken keeps its memory, in which short names stand, and a `filter` that leaves
    // nothing out gives the same one.
    let (cooling, unlock) = (dismissals[.unlock], numbers[.unlock])
    (dismissals, numbers) = ([:], [:])
    (dismissals[.unlock], numbers[.unlock]) = (cooling, unlock)
  }

  override package func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names)
      && (inquiries.values.contains { $0.matter != .unlock } || dismissals.contains { $0.key != .unlock })
  }
}
