internal import VaultCore
package import VaultModel

/// A call that may have to wait for the vault or for a person. Every door makes such calls in the same way. The call is
/// made again once the event for which it waits has come.
///
/// A door begins the call, and says how it is made again and how it is refused. The call is over when it is answered or
/// refused, and when its client leaves (``callOff()``).
package final class AskedCall {
  /// The caller, its words, and the time for which the call waits.
  package struct Terms {
    let caller: Caller
    /// Returns the words that come with the call. Called when a person is to be asked.
    let said: () -> Said
    let patience: Patience
    /// The content of the audit log's entry for a call that ends while it waits.
    let about: About
    /// True while the client is connected and its process runs.
    let isStillAsking: () -> Bool
    /// Returns false if the call cannot be made again now, and then runs the closure once that may be possible.
    let isReady: (@escaping () -> Void) -> Bool

    package init(
      _ caller: Caller, _ patience: Patience, about: About, saying said: @escaping () -> Said,
      isStillAsking: @escaping () -> Bool, isReady: @escaping (@escaping () -> Void) -> Bool = { _ in true }
    ) {
      (self.caller, self.patience, self.about) = (caller, patience, about)
      (self.said, self.isStillAsking, self.isReady) = (said, isStillAsking, isReady)
    }
  }

  /// The content of an entry of the audit log.
  package struct About {
    let action: AuditAction
    let item: String
    let detail: String
    let said: Said

    /// The call in one line; nil if it is about no item.
    fileprivate var task: String? { item.isEmpty ? nil : "\(action.name) \(Printable.quoted(item))" }

    package init(_ action: AuditAction, _ item: String = "", detail: String = "", _ said: Said = Said()) {
      (self.action, self.item, self.detail, self.said) = (action, item, detail, said)
    }
  }

  private let terms: Terms
  private let asking: Asking
  private let line: Line
  private let call: (Wait) throws(Refusal) -> Wait?
  private let refuse: (Refusal) -> Void
  /// The event for which the call waits, or for which it has waited until it is refused; nil for none.
  package private(set) var wait: Wait?
  private var attempt: Attempt?
  /// The call's place among the calls for which agents ask a person.
  private var waiter: Waiter?
  /// True once the call does not wait any more.
  private var isOver = false
  /// The refusal of a call that has stopped waiting, until the call is refused in a turn of its line.
  private var coming: Refusal?
  /// True if another call has used up an approval for which this call waited.
  private var hasLostApproval = false
  /// True if a person who was asked did not want to answer; a call that waits anyway goes on waiting.
  private var isPutOff = false

  /// - Parameters:
  ///   - line: the line of the caller's calls.
  ///   - call: makes the call again, after the event that has come. Returns the event for which it has to wait next, or
  ///     nil once it is answered.
  ///   - refuse: refuses the call.
  package init(
    _ terms: Terms, in asking: Asking, _ line: Line, _ call: @escaping (Wait) throws(Refusal) -> Wait?,
    refuse: @escaping (Refusal) -> Void
  ) {
    (self.terms, self.asking, self.line, self.call, self.refuse) = (terms, asking, line, call, refuse)
  }

  /// Makes a call for the first time; returns the call if it waits: then the door keeps it until it is over.
  ///
  /// Almost every call is answered at once. So the objects that a wait needs are made only for a call that waits.
  ///
  /// - Parameters:
  ///   - first: makes the call. Returns the event for which it has to wait, or nil once it is answered.
  ///   - refuse: refuses the call.
  ///   - kept: returns the call as it is made again once an event has come.
  package static func begin(
    _ about: About, for caller: Caller, in asking: Asking, _ first: () throws(Refusal) -> Wait?,
    refuse: (Refusal) -> Void, kept: () -> AskedCall
  ) -> AskedCall? {
    asking.tell(about, caller)
    do throws(Refusal) {
      if let wait = try first() { return kept().begun(with: wait) }
      asking.tellAgain(about, caller)
    } catch {
      asking.tellAgain(about, caller)
      refuse(error)
    }
    return nil
  }

  /// Makes a call that usually waits; returns the call if it does.
  ///
  /// - Parameters:
  ///   - call: makes the call, also again after the event that it has waited for.
  package static func begin(
    _ terms: Terms, in asking: Asking, _ line: Line, _ call: @escaping () throws(Refusal) -> Wait?,
    refuse: @escaping (Refusal) -> Void
  ) -> AskedCall? {
    begin(terms.about, for: terms.caller, in: asking, call, refuse: refuse) {
      AskedCall(terms, in: asking, line, { _ throws(Refusal) in try call() }, refuse: refuse)
    }
  }

  /// Lets the call wait for its first event; returns nil if the call was refused instead.
  private func begun(with wait: Wait) -> AskedCall? {
    do throws(Refusal) { try hold(wait) } catch { end(error) }
    return isOver && coming == nil ? nil : self
  }

  /// Ends the wait without an answer.
  package func callOff() {
    asking.tellAgain(terms.about, terms.caller)
    stopWaiting()
    (wait, coming) = (nil, nil)
  }

  private func stopWaiting() {
    isOver = true
    attempt?.callOff()
    (attempt, waiter) = (nil, nil)
  }

  private func goOn(after event: Wait) {
    if case .approval(let number) = event, asking.access.requests.isUsedUp(number) { hasLostApproval = true }
    // ``waiter`` is not cleared yet, so that the call keeps its place among the askers until its next wait is known.
    wait = nil
    do throws(Refusal) {
      guard let next = try call(event) else { return callOff() }
      if !isOver { try hold(next) }
    } catch {
      // A refusal that says more, such as an administrator's denial, stays as it is.
      end(hasLostApproval && error == asking.items.denied ? .approvalLost(nil) : error)
    }
  }

  private func end(_ refusal: Refusal) {
    // The door may have refused the call meanwhile, because of something that the call has found.
    guard !isOver else { return }
    callOff()
    refuse(refusal)
  }

  // MARK: Waiting

  /// Lets the call wait for an event.
  ///
  /// - Throws: the refusal if the call does not wait for a person, if its time to wait is over, or if nobody can be
  ///   asked.
  private func hold(_ next: Wait) throws(Refusal) {
    let event: Waiting.Event
    var limit: Int64?
    // A call that waits for the same event again joins the askers anew before it leaves its old place. So the inquiry
    // stays open.
    var joined: Waiter?
    isPutOff = false
    switch next {
    case .room: throw .busy("there is no room for this answer now")
    case .bootKey: event = .bootKey
    case .signature(let number): event = .signature(number)
    case .unlock:
      limit = try left(for: next)
      joined = try join(next)
      event = .unlock
    case .approval(let number):
      limit = try left(for: next)
      joined = try join(next)
      event = .question(number)
    case .presence, .confirmation:
      limit = try left(for: next)
      guard let place = try join(next) else { throw refusal(unanswered: next) }
      (joined, event) = (place, .question(place.inquiry))
    }
    (wait, waiter) = (next, joined)
    attempt = Attempt(for: event, in: asking.vault.waiting, line, within: limit, asking.timer) { [weak self] in
      guard let self else { return }
      giveUp(refusal(late: next))
    } goOn: { [weak self] in
      self?.takeUp(after: next)
    }
  }

  /// Makes the call again once everything that decides about the caller is known and the door is ready for the call.
  /// The event may have brought the grants, which decide about the caller.
  private func takeUp(after event: Wait) {
    guard !isOver else { return }
    guard terms.isStillAsking() else { return callOff() }
    let later: () -> Void = { [weak self] in
      guard let self else { return }
      asking.vault.waiting.turns?.wait(line) { [weak self] in self?.takeUp(after: event) }
    }
    if asking.access.canDecide(about: terms.caller, otherwise: later), terms.isReady(later) { goOn(after: event) }
  }

  /// The nanoseconds for which the call may still wait for a person; nil for no limit.
  private func left(for wait: Wait) throws(Refusal) -> Int64? {
    switch terms.patience {
    case .none: throw refusal(unanswered: wait)
    case .anyway(nil), .untilServed: return nil
    case .whileAsked(let end), .anyway(let end?):
      let left = end - asking.vault.clock.monotonic()
      guard left > 0 else { throw refusal(late: wait) }
      return left
    }
  }

  /// Takes a place for the call among the calls for which agents ask a person; nil for a call that waits without such a
  /// place.
  private func join(_ wait: Wait) throws(Refusal) -> Waiter? {
    let unanswered = refusal(unanswered: wait)
    let waitsAnyway = waitsAnyway(for: wait)
    let joined = asking.attendance.join(wait, terms.caller, said(for: wait), waitsAnyway: waitsAnyway) { [weak self] in
      if $0 == .dismissed { self?.isPutOff = true }
      if !waitsAnyway { self?.giveUp($0 == .dismissed ? .cancelled : unanswered) }
    }
    switch joined {
    case .waits(let waiter): return waiter
    case .isDismissed(let waiter):
      isPutOff = true
      guard let waiter else { throw .cancelled }
      return waiter
    case .nobody: if !waitsAnyway { throw unanswered }
    }
    return nil
  }

  /// Returns the words for the person who is asked. A question about an unlock does not name an item by itself. In a
  /// user's vault, the task of the call names it, unless the vault hides names while it is locked. In the machine's
  /// vault, the task is left out, because not every user who may unlock that vault may know of the item.
  private func said(for wait: Wait) -> Said {
    var said = terms.said()
    let mayName = !asking.access.terms.isSystem && !asking.vault.settings.hideNames
    if case .unlock = wait, said.task == nil, mayName, let task = terms.about.task {
      (said.task, said.namesItem) = (task, true)
    }
    return said
  }

  /// True if the call waits for an event that may come without an agent, and its patience allows that: somebody unlocks
  /// the vault, for example, or approves the request. Without an agent nobody shows presence or allows the use of a
  /// key, so only a call that outlasts agents waits for presence.
  private func waitsAnyway(for wait: Wait) -> Bool {
    let outlasts: Bool
    switch terms.patience {
    case .none, .whileAsked: return false
    case .anyway: outlasts = false
    case .untilServed: outlasts = true
    }
    switch wait {
    case .unlock, .bootKey, .room, .approval, .signature: return true
    case .presence: return outlasts
    case .confirmation: return false
    }
  }

  // MARK: Refusals

  /// The refusal of a call if nobody has done what it waits for, or if nobody can be asked to.
  private func refusal(unanswered wait: Wait) -> Refusal {
    switch wait {
    case .unlock, .bootKey, .room, .signature: asking.vault.locked
    case .approval(let number): hasLostApproval ? .approvalLost(number) : .unapproved(number)
    case .presence(let name, let requirement): .presenceRequired(name.text, requirement)
    case .confirmation: .denied("nobody has allowed this use of the key")
    }
  }

  /// The refusal of a call whose time is over.
  private func refusal(late wait: Wait) -> Refusal {
    switch wait {
    case .unlock, .bootKey, .room, .signature: .timedOut
    case .presence: .unshown
    case .approval(let number):
      hasLostApproval ? .approvalLost(number) : isPutOff ? .cancelled : .unanswered(number)
    case .confirmation: .denied("nobody has allowed this use of the key in time")
    }
  }

  /// Stops waiting. The call is refused in a turn of its line, because other calls may stop waiting at this moment.
  /// Until then it keeps ``wait``, so that a lock ends a call that has a name in memory.
  private func giveUp(_ refusal: Refusal) {
    guard !isOver else { return }
    stopWaiting()
    coming = refusal
    asking.vault.questions.refusals.add(self, line)
  }

  /// Records the refusal of a call that has stopped waiting; see ``Refusals``.
  func recordRefusal() {
    guard let coming else { return }
    asking.tellAgain(terms.about, terms.caller)
    asking.vault.audit.willRefuse(coming.outcome, for: terms.caller)
  }

  /// Refuses a call that has stopped waiting, unless it has ended meanwhile.
  func refuseNow() {
    guard let refusal = coming else { return }
    callOff()
    if terms.isStillAsking() { refuse(refusal) }
  }
}

extension Asking {
  /// Tells the audit log what a call is about.
  fileprivate func tell(_ about: AskedCall.About, _ caller: Caller) {
    vault.audit.isAbout(about.action, about.item, detail: about.detail, about.said, for: caller)
  }

  /// States the content of a call's entry again, if a lock that hides names has made the audit log forget it.
  fileprivate func tellAgain(_ about: AskedCall.About, _ caller: Caller) {
    if vault.audit.hasForgotten(caller) { tell(about, caller) }
  }
}

/// The parts of the vault's service that asked calls need.
package struct Asking {
  let vault: Vault
  let access: Access
  let items: Items
  let attendance: Attendance
  let timer: Timer
}
