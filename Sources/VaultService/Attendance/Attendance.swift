internal import VaultCore
package import VaultModel
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
  private let timer: Timer
  /// In the order of their coming.
  package private(set) var agents: [Agent] = []
  private var inquiries: [Int: Inquiry] = [:]
  private var numbers: [Inquiry.Matter: Int] = [:]
  /// Until when nobody is asked for that, `CLOCK_BOOTTIME` nanoseconds.
  private var dismissals: [Inquiry.Matter: Int64] = [:]
  private var nextAgent = 1
  private var telling: Timer.Cancel?

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
    return try vault.audit.recording(.attend, caller, words) { () throws(Refusal) in
      try access.checkOpener(caller)
      guard caller.started != nil else { throw .denied("nothing tells this process from a later one of its number") }
      guard agents.count < Self.most, agents.count(where: { $0.caller.uid == caller.uid }) < Self.mostOfOne else {
        throw .busy("as many agents attend as the vault takes")
      }
      let agent = Agent(
        nextAgent, caller, Asker(caller, isSystem: access.terms.isSystem), faces, since: vault.clock.wall(), refused, send)
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
    vault.audit.record(.attend, .ok, agent.caller, item: "ended")
    for number in agent.told { checkSomebodyCanAsk(number) }
    if agents.isEmpty { vault.armNext() }
  }

  /// Ends those that may attend no more.
  package func reconsider() {
    for agent in agents where (try? access.checkOpener(agent.caller)) == nil {
      end(agent)
      agent.refused()
    }
  }

  // MARK: Inquiries

  /// The outcome of a wish to have a person asked.
  package enum Joined {
    case waits(Waiter)
    /// The person did not want to answer a while ago.
    case isDismissed
    /// No agent can ask.
    case nobody
  }

  /// Has agents ask for the vault to be opened.
  package func joinUnlock(_ caller: Caller, _ said: Said, giveUp: @escaping (Waiter.End) -> Void) -> Joined {
    join(.unlock, caller, said, giveUp)
  }

  /// Has agents ask for the presence that an item requires, in the session of the caller.
  package func joinPresence(
    _ name: ItemName, _ requirement: Requirement, _ caller: Caller, _ said: Said,
    giveUp: @escaping (Waiter.End) -> Void
  ) -> Joined {
    guard let session = caller.session else { return .nobody }
    let matter = Inquiry.Matter.presence(name, requirement, session)
    if numbers[matter] == nil {
      let open = inquiries.values.compactMap { inquiry -> UInt32? in
        if case .presence(_, _, let session) = inquiry.matter { session.uid } else { nil }
      }
      guard open.count < Self.mostPresence, open.count(where: { $0 == session.uid }) < Self.mostPresenceOfOne else {
        return .nobody
      }
    }
    return join(matter, caller, said, giveUp)
  }

  /// Waits with others for the answer to a request, of which agents have been told.
  package func joinApproval(
    _ number: Int, _ caller: Caller, _ said: Said, giveUp: @escaping (Waiter.End) -> Void
  ) -> Joined {
    join(.approval(number), caller, said, giveUp)
  }

  private func join(
    _ matter: Inquiry.Matter, _ caller: Caller, _ said: Said, _ giveUp: @escaping (Waiter.End) -> Void
  ) -> Joined {
    if agents.isEmpty { return .nobody }
    if isCooling(matter) { return .isDismissed }
    let number = numbers[matter] ?? open(freeNumber(matter), matter)
    guard let inquiry = inquiries[number], canBeAsked(inquiry) else {
      close(number, .gone)
      return .nobody
    }
    let waiter = Waiter(number, self, giveUp: giveUp)
    inquiry.add(waiter, Audit.line(said.purpose ?? "")) { Asker(caller, isSystem: access.terms.isSystem) }
    tellLater()
    return .waits(waiter)
  }

  /// Has a call wait no more; where it was the last one, nobody is wanted any more.
  func leave(_ number: Int, _ waiter: Int) {
    guard let inquiry = inquiries[number] else { return }
    inquiry.remove(waiter)
    if case .approval = inquiry.matter { return }
    if inquiry.count == 0 { close(number, .gone) } else { tellLater() }
  }

  @discardableResult private func open(_ number: Int, _ matter: Inquiry.Matter) -> Int {
    inquiries[number] = Inquiry(number, matter)
    numbers[matter] = number
    return number
  }

  private func freeNumber(_ matter: Inquiry.Matter) -> Int {
    if case .approval(let number) = matter { return number }
    while true {
      let number = access.requests.draw()
      if inquiries[number] == nil, access.requests.request(number) == nil { return number }
    }
  }

  /// Ends an inquiry, and tells those who were told of it.
  private func close(_ number: Int, _ why: AttendanceEvent.Withdrawal) {
    guard let inquiry = inquiries.removeValue(forKey: number) else { return }
    numbers[inquiry.matter] = nil
    for agent in agents where agent.told.remove(number) != nil {
      agent.unable.remove(number)
      send(.withdrawn(number, why), to: agent)
    }
  }

  private func isCooling(_ matter: Inquiry.Matter) -> Bool {
    guard let end = dismissals[matter] else { return false }
    if end > vault.clock.boot() { return true }
    dismissals[matter] = nil
    return false
  }

  // MARK: Answers

  /// The item of the presence inquiry of that number, of which the caller was told as an agent.
  package func item(of number: Int, for caller: Caller) throws(Refusal) -> ItemInfo {
    let inquiry = try inquiry(number, toldTo: caller)
    guard case .presence(let name, _, _) = inquiry.matter else { throw .invalid("inquiry") }
    return try items.itemToProve(name, for: caller)
  }

  /// The session that waits for the presence inquiry of that number; nil where it is over.
  func session(of number: Int) -> AuthenticationSession? {
    if case .presence(_, _, let session) = inquiries[number]?.matter { session } else { nil }
  }

  /// Takes note that presence was shown: those who wait go on.
  func isShown(_ number: Int) {
    close(number, .answered)
    vault.waiting.go(.presence(number)) { true }
  }

  /// Takes note that a person does not want to answer now or, with `isUnable`, that this agent cannot ask.
  package func dismiss(_ number: Int, isUnable: Bool, for caller: Caller) throws(Refusal) {
    let inquiry = try inquiry(number, toldTo: caller)
    if isUnable {
      for agent in agents where agent.isProcess(of: caller) { agent.unable.insert(number) }
      return checkSomebodyCanAsk(number)
    }
    try vault.audit.recording(.dismiss, caller, name(inquiry), detail: "\(about(inquiry)), number \(number)") {
      () throws(Refusal) in
      let now = vault.clock.boot()
      dismissals = dismissals.filter { $0.value > now }
      dismissals[inquiry.matter] = now + Self.coolDown
      let waiters = Array(inquiry.waiters.values)
      close(number, .dismissed)
      for waiter in waiters { waiter.giveUp(.dismissed) }
    }
  }

  private func inquiry(_ number: Int, toldTo caller: Caller) throws(Refusal) -> Inquiry {
    guard let inquiry = inquiries[number] else { throw .noSuchRequest(number) }
    guard agents.contains(where: { $0.isProcess(of: caller) && $0.told.contains(number) }) else {
      throw .denied("it was not asked of this process")
    }
    return inquiry
  }

  // MARK: Events

  /// Takes note of what happens in the vault.
  package func happened(_ event: VaultEvent) {
    if agents.isEmpty, inquiries.isEmpty { return }
    switch event {
    case .state(let state):
      if state.kind == .unlocked, let number = numbers[.unlock] { close(number, .answered) }
      if state.kind == .unlocked { dismissals[.unlock] = nil }
      if state.kind == .unlocked || state.kind == .locked { tell(.notice(.state(state))) }
    case .integrityFailed(let reason): tell(.notice(.integrity(reason)))
    case .request(let number, .asked):
      open(number, .approval(number))
      tellLater()
    case .request(let number, let change): close(number, change == .dropped ? .gone : .answered)
    case .item: break
    }
  }

  /// Tells all agents.
  private func tell(_ event: AttendanceEvent) {
    for agent in agents where mayHear(agent, of: event) { send(event, to: agent) }
  }

  private func mayHear(_ agent: Agent, of event: AttendanceEvent) -> Bool {
    if case .notice(.state) = event { return true }
    return access.isAdministrator(agent.caller)
  }

  private func send(_ event: AttendanceEvent, to agent: Agent) { if !agent.send(event) { end(agent) } }

  /// Tells of an inquiry that is new at once, and of what changes about it after a while.
  private func tellLater() {
    guard telling == nil else { return }
    tellChanged()
    telling = timer.after(Self.pause) { [weak self] in
      guard let self else { return }
      telling = nil
      if inquiries.values.contains(where: \.hasChanged) { tellLater() }
    }
  }

  private func tellChanged() {
    for inquiry in inquiries.values.filter({ $0.hasChanged || isNew($0) }) {
      inquiry.hasChanged = false
      for agent in agents { tell(inquiry, to: agent) }
    }
  }

  private func isNew(_ inquiry: Inquiry) -> Bool { !agents.contains { $0.told.contains(inquiry.number) } }

  private func tell(_ inquiry: Inquiry, to agent: Agent) {
    guard mayHear(agent, of: inquiry), let told = told(inquiry) else { return }
    agent.told.insert(inquiry.number)
    send(.inquiry(told), to: agent)
  }

  // MARK: Who can ask

  /// True when an agent is there whose user's answer counts, and that can ask.
  private func canBeAsked(_ inquiry: Inquiry) -> Bool {
    agents.contains { !$0.unable.contains(inquiry.number) && mayHear($0, of: inquiry) }
  }

  private func checkSomebodyCanAsk(_ number: Int) {
    guard let inquiry = inquiries[number], !canBeAsked(inquiry) else { return }
    let waiters = Array(inquiry.waiters.values)
    // A request waits for an administrator in any case.
    if case .approval = inquiry.matter {} else { close(number, .gone) }
    for waiter in waiters { waiter.giveUp(.nobody) }
  }

  /// True when the answer of the agent's user counts.
  private func mayHear(_ agent: Agent, of inquiry: Inquiry) -> Bool {
    switch inquiry.matter {
    case .unlock: return (try? access.checkOpener(agent.caller)) != nil
    case .approval(let number):
      guard let request = access.requests.request(number), access.isAdministrator(agent.caller) else { return false }
      return !CallerParts(agent.caller, isSystem: access.terms.isSystem).isAll(of: request.target.subject)
    case .presence(let name, let requirement, _):
      guard (try? items.itemToProve(name, for: agent.caller)) != nil else { return false }
      // A finger counts for whom a way in is for; the vault's password may be anybody's who knows it.
      let slots = vault.openKeychain?.slots ?? []
      return requirement != .biometry || slots.contains { $0.terms?.users.contains(agent.caller.uid) == true }
    }
  }

  // MARK: Words

  private func about(_ inquiry: Inquiry) -> String {
    switch inquiry.matter {
    case .unlock: "unlock"
    case .presence: "presence"
    case .approval: "approval"
    }
  }

  private func name(_ inquiry: Inquiry) -> String? {
    switch inquiry.matter {
    case .unlock: nil
    case .presence(let name, _, _): name.text
    case .approval(let number): access.requests.request(number)?.target.name.text
    }
  }

  private func told(_ inquiry: Inquiry) -> ToldInquiry? {
    var told = ToldInquiry(number: inquiry.number, about: about(inquiry), name: name(inquiry))
    told.askers = inquiry.askers.map { ($0.asker, $0.words) }
    told.count = inquiry.count
    switch inquiry.matter {
    case .unlock: (told.idle, told.age) = (vault.settings.idle, vault.settings.maximumAge)
    case .presence(let name, let requirement, _):
      told.require = requirement
      told.reuse = (try? vault.keychain().item(named: name)).map { Int64($0.policy.reuseWindow) }
    case .approval(let number):
      guard let request = access.requests.request(number) else { return nil }
      (told.subject, told.right, told.askers) = (request.target.subject, request.right, [(request.asker, request.words)])
      told.count = max(1, inquiry.count)
      told.isMissing = (try? vault.keychain().item(named: request.target.name)) == nil
    }
    return told
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) {
    guard lock.reach.contains(.names) else { return }
    for inquiry in Array(inquiries.values) where inquiry.matter != .unlock { close(inquiry.number, .gone) }
    // As a whole: a table from which something is taken keeps its memory.
    dismissals = dismissals.filter { $0.key == .unlock }
    numbers = numbers.filter { $0.key == .unlock }
  }

  override package func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names)
      && (inquiries.values.contains { $0.matter != .unlock } || dismissals.contains { $0.key != .unlock })
  }
}
