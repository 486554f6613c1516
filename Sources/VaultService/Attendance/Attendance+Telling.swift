internal import VaultCore
internal import VaultModel
internal import VaultStore

// Events and inquiries as sent to agents.
extension Attendance {
  /// Handles an event of the vault.
  package func happened(_ event: VaultEvent) {
    if agents.isEmpty, inquiries.isEmpty { return }
    switch event {
    case .state(let state):
      if state.kind == .unlocked {
        inquiries.forgetDismissal(of: .unlock)
        askAgain()
      }
      if let inquiry = inquiries[.unlock] {
        inquiry.isQuiet = false
        if state.kind == .unlocked { putAside(inquiry, .answered) } else { tellLater() }
      }
      if state.kind == .unlocked || state.kind == .locked { tell(.notice(.state(state))) }
    case .integrityFailed(let reason): tell(.notice(.integrity(reason)))
    case .request(let number, .asked):
      inquiries.open(number, .approval(number))
      tellLater()
    case .request(let number, let change): close(number, change == .dropped ? .gone : .answered)
    case .item(let name, _, _, _, _): itemChanged(name)
    }
  }

  /// Has agents ask again for calls that wait anyway and were put off.
  private func askAgain() {
    let quiet = inquiries.all.filter { $0.isQuiet && $0.matter != .unlock }
    guard !quiet.isEmpty else { return }
    for inquiry in quiet { inquiry.isQuiet = false }
    tellLater()
    tellWhenCool()
  }

  /// Sends an event to all agents that may hear of it.
  func tell(_ event: AttendanceEvent) {
    for agent in agents where mayHear(agent, of: event) { send(event, to: agent) }
  }

  private func mayHear(_ agent: Agent, of event: AttendanceEvent) -> Bool {
    if case .notice(.state) = event { return true }
    return access.isAdministrator(agent.caller)
  }

  func send(_ event: AttendanceEvent, to agent: Agent) { if !agent.send(event) { end(agent) } }

  /// Has calls that wait for presence check an item again after a change: it may be gone, or require something else.
  private func itemChanged(_ name: ItemName) {
    for inquiry in inquiries.all {
      guard case .presence(name, _, _) = inquiry.matter else { continue }
      vault.waiting.go(.question(inquiry.number)) { true }
    }
  }

  /// Tells agents of new and changed inquiries, in the next turn of the loop, or a moment later if they were told just
  /// now. The delay lets a call begin to wait before an event is sent: sending may show that an agent has gone away,
  /// which ends waits.
  func tellLater() {
    guard telling == nil, !agents.isEmpty else { return }
    telling = timer.after(max(0, lastTold + Self.pause - vault.clock.monotonic())) { [weak self] in
      guard let self else { return }
      telling = nil
      lastTold = vault.clock.monotonic()
      tellChanged()
    }
  }

  /// Tells agents of the calls that came within the pause after a dismissal once that pause is over.
  func tellWhenCool() {
    let now = vault.clock.boot()
    let ends = inquiries.all.lazy.filter { !$0.isQuiet }.compactMap { [inquiries] in
      inquiries.dismissalEnd(of: $0.matter.topic, now: now)
    }
    cooling?()
    cooling = ends.min().map { end in
      timer.after(end - now) { [weak self] in
        guard let self else { return }
        cooling = nil
        tellLater()
        tellWhenCool()
      }
    }
  }

  private func tellChanged() {
    for inquiry in inquiries.all where !inquiry.isQuiet && (inquiry.hasChanged || isNew(inquiry)) {
      inquiry.hasChanged = false
      owe(inquiry, to: agents)
    }
    tellDue()
  }

  private func isNew(_ inquiry: Inquiry) -> Bool { !agents.contains { $0.told.contains(inquiry.number) } }

  // MARK: Turns

  /// Notes that agents are to be told of an inquiry by ``tellDue()``.
  func owe(_ inquiry: Inquiry, to agents: [Agent]) {
    let number = inquiry.number
    let isDue = self.agents.contains { $0.due.contains(number) }
    for agent in agents { agent.due.insert(number) }
    if !isDue { due.append(number) }
  }

  /// Tells agents of the inquiries that are due: of at least one, of more until ``Turns/telling`` has passed, and of
  /// the rest in later turns, because strangers decide how many inquiries there are.
  func tellDue() {
    guard !isTelling else { return }
    let end = vault.clock.monotonic() + Turns.telling
    while !due.isEmpty {
      tellNext()
      if vault.clock.monotonic() >= end { break }
    }
    guard !due.isEmpty, let turns = vault.waiting.turns else { return }
    isTelling = true
    turns.wait(line) { [weak self] in
      guard let self else { return }
      isTelling = false
      tellDue()
    }
  }

  /// Tells the agents that are due of the next inquiry, which is described once for all of them.
  private func tellNext() {
    let number = due.removeFirst()
    let agents = agents.filter { $0.due.remove(number) != nil }
    guard let inquiry = inquiries[number], isOpen(inquiry) else { return }
    var told: ToldInquiry?
    for agent in agents where !agent.unable.contains(number) && mayHear(agent, of: inquiry) {
      // Sending may show that an agent has gone away, which may end other agents and the inquiry.
      guard inquiries[number] === inquiry, let content = told ?? self.told(inquiry) else { return }
      guard self.agents.contains(where: { $0 === agent }) else { continue }
      told = content
      agent.told.insert(number)
      send(.inquiry(content), to: agent)
    }
  }

  // MARK: Words

  func about(_ inquiry: Inquiry) -> String {
    switch inquiry.matter {
    case .unlock: "unlock"
    case .presence: "presence"
    case .approval: "approval"
    case .confirmation: "confirmation"
    }
  }

  func name(_ inquiry: Inquiry) -> String? {
    switch inquiry.matter {
    case .unlock, .confirmation: nil
    case .presence(let name, _, _): name.text
    case .approval(let number): access.requests.request(number)?.target.name.text
    }
  }

  private func told(_ inquiry: Inquiry) -> ToldInquiry? {
    var told = ToldInquiry(number: inquiry.number, about: about(inquiry), name: name(inquiry))
    told.count = inquiry.count
    switch inquiry.matter {
    case .unlock: (told.idle, told.age) = (vault.settings.idle, vault.settings.maximumAge)
    case .confirmation: break
    case .presence(let name, let requirement, _):
      told.require = requirement
      told.reuse = (try? vault.keychain().item(named: name)).map { Int64($0.policy.reuseWindow) }
    case .approval(let number):
      guard let request = access.requests.request(number) else { return nil }
      (told.subject, told.right) = (request.target.subject, request.right)
      told.askers = [ToldAsker(asker: request.asker, words: request.words)]
      let name = request.target.name
      told.isMissing =
        (try? vault.keychain().item(named: name)) == nil && !access.stands(forAllOfCollection: name)
      return told
    }
    // The setting may have changed since the calls joined.
    told.askers = inquiry.askers(isSystem: access.terms.isSystem, hidesNames: vault.settings.hideNames)
    return told
  }
}
