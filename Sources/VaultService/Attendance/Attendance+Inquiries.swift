internal import VaultCore
internal import VaultModel
internal import VaultStore

// Inquiries, the calls that wait for them, and the agents that can ask.
extension Attendance {
  /// The result of joining an inquiry.
  package enum Joined {
    case waits(Waiter)
    /// A person dismissed an inquiry of the same topic a short while ago. A call that waits anyway has a place, and
    /// agents are told of it later.
    case isDismissed(Waiter?)
    /// No agent can ask.
    case nobody
  }

  /// Joins a call to the inquiry about the event for which the call waits, so that agents ask a person.
  ///
  /// - Parameters:
  ///   - waitsAnyway: true if the call waits even if no agent can ask now; an agent that connects later is told of the
  ///     inquiry.
  ///   - giveUp: called when a person dismisses the inquiry, or when no agent that can ask is left.
  func join(
    _ wait: Wait, _ caller: Caller, _ said: Said, waitsAnyway: Bool = false, giveUp: @escaping (Waiter.End) -> Void
  ) -> Joined {
    guard let matter = matter(of: wait, caller, waitsAnyway) else { return .nobody }
    if agents.isEmpty, !waitsAnyway { return .nobody }
    let isCooling = isCooling(matter)
    if isCooling, !waitsAnyway { return .isDismissed(nil) }
    let inquiry = inquiries[matter] ?? open(matter)
    guard waitsAnyway || canBeAsked(inquiry) else {
      closeUnlessWanted(inquiry)
      return .nobody
    }
    let task = said.task.map { Printable.text($0) }
    let words = Audit.line(said.purpose ?? "")
    let place = inquiry.add(caller, words, task: task, namesItem: said.namesItem, giveUp: giveUp)
    tellLater()
    let waiter = Waiter(place, of: inquiry.number, self)
    guard isCooling else { return .waits(waiter) }
    tellWhenCool()
    return .isDismissed(waiter)
  }

  /// The matter about which people are asked; nil if nobody can be asked about it, or if too many calls wait.
  private func matter(of wait: Wait, _ caller: Caller, _ waitsAnyway: Bool) -> Inquiry.Matter? {
    switch wait {
    case .bootKey, .room, .signature: return nil
    case .unlock: return .unlock
    case .approval(let number): return .approval(number)
    case .confirmation(let fingerprint):
      let open = inquiries.all.count { if case .confirmation = $0.matter { true } else { false } }
      guard open < Self.mostConfirmations else { return nil }
      nextUse += 1
      return .confirmation(fingerprint: fingerprint, use: nextUse)
    case .presence(let name, let requirement):
      guard let session = caller.session else { return nil }
      let matter = Inquiry.Matter.presence(name, requirement, session)
      if inquiries[matter] != nil { return matter }
      let open = inquiries.all.compactMap { inquiry -> UInt32? in
        if case .presence(_, _, let session) = inquiry.matter { session.uid } else { nil }
      }
      let own = open.count { $0 == session.uid }
      let part = waitsAnyway ? Self.endlessPart : 1
      return open.count < Self.mostPresence / part && own < Self.mostPresenceOfOne / part ? matter : nil
    }
  }

  /// Ends the wait of a call. If no other call waits, the inquiry ends, too, unless it belongs to a request.
  func leave(_ number: QuestionNumber, _ waiter: Int) {
    guard let inquiry = inquiries[number] else { return }
    inquiry.remove(waiter)
    closeUnlessWanted(inquiry)
    tellLater()
  }

  /// Ends an inquiry for which no call waits. A request stays open in any case, because it waits for an administrator.
  private func closeUnlessWanted(_ inquiry: Inquiry) {
    if case .approval = inquiry.matter { return }
    if inquiry.count == 0 { close(inquiry.number, .gone) }
  }

  private func open(_ matter: Inquiry.Matter) -> Inquiry {
    if case .approval(let number) = matter { return inquiries.open(number, matter) }
    return inquiries.open(vault.questions.freeNumber(), matter)
  }

  /// Ends an inquiry, and tells the agents that were told of it.
  func close(_ number: QuestionNumber, _ why: AttendanceEvent.Withdrawal) {
    if inquiries.close(number) { withdraw(number, why) }
  }

  /// Tells the agents that were told of an inquiry that no answer is wanted now.
  private func withdraw(_ number: QuestionNumber, _ why: AttendanceEvent.Withdrawal) {
    for agent in agents { agent.due.remove(number) }
    for agent in agents where agent.told.remove(number) != nil {
      agent.unable.remove(number)
      send(.withdrawn(number, why), to: agent)
    }
  }

  /// Takes an inquiry from the agents, lets `tell` tell the calls, and ends the inquiry if none of them waits any more.
  func putAside(_ inquiry: Inquiry, _ why: AttendanceEvent.Withdrawal, tell: () -> Void = {}) {
    withdraw(inquiry.number, why)
    tell()
    closeUnlessWanted(inquiry)
  }

  func isCooling(_ matter: Inquiry.Matter) -> Bool {
    inquiries.dismissalEnd(of: matter.topic, now: vault.clock.boot()) != nil
  }

  /// True when agents may put an inquiry to people now.
  func isOpen(_ inquiry: Inquiry) -> Bool {
    // The calls that wait for an unlock continue one after the other, or wait for the next unlock if a lock comes
    // first.
    if inquiry.matter == .unlock, vault.state.kind == .unlocked { return false }
    return !isCooling(inquiry.matter)
  }

  // MARK: Agents that can ask

  /// True when there is an agent that can ask and whose user's answer counts.
  private func canBeAsked(_ inquiry: Inquiry) -> Bool {
    agents.contains { !$0.unable.contains(inquiry.number) && (awaitsDigest(of: $0) || mayHear($0, of: inquiry)) }
  }

  /// Ends the waits for an inquiry that no agent can put to a person.
  func checkSomebodyCanAsk(_ number: QuestionNumber) {
    guard let inquiry = inquiries[number], !canBeAsked(inquiry) else { return }
    inquiry.giveUp(.nobody)
  }

  /// True when the answer of the agent's user counts.
  func mayHear(_ agent: Agent, of inquiry: Inquiry) -> Bool {
    switch inquiry.matter {
    case .unlock: return (try? access.checkOpener(agent.caller)) != nil
    case .approval(let number):
      guard let request = access.requests.request(number), access.isAdministrator(agent.caller) else { return false }
      return !CallerParts(agent.caller, isSystem: access.terms.isSystem).isAll(of: request.target.subject)
    case .confirmation: return access.isAdministrator(agent.caller)
    case .presence(let name, let requirement, _):
      guard (try? items.itemToProve(name, for: agent.caller)) != nil else { return false }
      // A finger counts only for users for whom there is a slot; the vault's password counts for everybody who knows
      // it.
      let slots = vault.openKeychain?.slots ?? []
      return requirement != .biometry || slots.contains { $0.terms?.users.contains(agent.caller.uid) == true }
    }
  }
}
