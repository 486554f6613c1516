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
      if state.kind == .unlocked { inquiries.forgetDismissal(of: .unlock) }
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
    case .item(let name, _, _, _): itemChanged(name)
    }
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
      for agent in agents { tell(inquiry, to: agent) }
    }
  }

  private func isNew(_ inquiry: Inquiry) -> Bool { !agents.contains { $0.told.contains(inquiry.number) } }

  func tell(_ inquiry: Inquiry, to agent: Agent) {
    guard isOpen(inquiry), !agent.unable.contains(inquiry.number), mayHear(agent, of: inquiry), let told = told(inquiry)
    else { return }
    agent.told.insert(inquiry.number)
    send(.inquiry(told), to: agent)
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
    // The setting may have changed since the calls joined.
    told.askers = inquiry.askers(isSystem: access.terms.isSystem, hidesNames: vault.settings.hideNames)
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
      told.isMissing = (try? vault.keychain().item(named: request.target.name)) == nil
    }
    return told
  }
}
