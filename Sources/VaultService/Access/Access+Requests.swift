internal import VaultCore
internal import VaultModel
internal import VaultStore

// Requests for rights that no grant gives, and the answers to them.
extension Access {
  /// The requests for rights that no grant gives, and their results.
  package struct ToldRequests {
    /// The requests that wait for an answer. `isMissing` is true if there is no item of the requested name.
    package var pending: [(request: PendingRequest, isMissing: Bool)] = []
    /// The approvals that count now, and the times at which they end, in Unix seconds.
    package var approvals: [(approval: Approval, until: Int64?)] = []
    /// The targets for which nobody is asked, and the times at which their denials end, in Unix seconds; nil if only an
    /// administrator ends the denial.
    package var denials: [(target: RequestTarget, until: Int64?)] = []
  }

  // MARK: Asking

  /// Records the request of a caller for a right that no grant gives it.
  ///
  /// - Returns: the number of the request, for whose answer the caller may wait; nil if nobody is asked.
  /// - Throws: the refusal if the request cannot be recorded in the audit log.
  func ask(_ right: Right, _ name: ItemName, for caller: Caller, _ said: Said) throws(Refusal) -> QuestionNumber? {
    guard let purpose = said.purpose, !purpose.isEmpty, let subject = subject(of: caller) else { return nil }
    let words = Audit.line(purpose)
    let target = RequestTarget(subject, name)
    guard words.contains(where: { !$0.isWhitespace }), !book.denies(target) else { return nil }
    let asked = requests.ask(
      right, target, words, caller, { Asker($0, isSystem: terms.isSystem) },
      isStranger: !isKnown(caller) && caller.grantedUnit(isSystem: terms.isSystem) == nil,
      number: vault.questions.freeNumber, now: vault.clock.boot(), at: vault.clock.wall())
    guard let (number, isNew) = asked else { return nil }
    guard isNew else { return number }
    vault.audit.record(.request, .ok, caller, item: name.text, detail: "\(right.name), number \(number)", said)
    do throws(Refusal) { try vault.audit.settle() } catch {
      requests.drop(number, .dropped)
      throw error
    }
    return number
  }

  /// The refusal for a caller who asks for an item that was denied to it for good, or a short while ago; nil if it was
  /// not denied.
  func denial(of name: ItemName, for caller: Caller, _ said: Said) -> Refusal? {
    guard said.purpose?.isEmpty == false, let subject = subject(of: caller) else { return nil }
    let target = RequestTarget(subject, name)
    if book.denies(target) {
      return .denied("an administrator has denied this permanently, so nobody will be asked again")
    }
    guard let seconds = requests.cooling(target, now: vault.clock.boot()) else { return nil }
    let minutes = (seconds + 59) / 60
    return .denied("an administrator has denied this; it may be requested again in \(Seconds.format(minutes * 60))")
  }

  /// The subject that a caller's request names: the caller's user and service, in the form of a grant's subject. For
  /// one of the user's own programs in a user's vault, it is the subject that confines the program to its grants.
  func subject(of caller: Caller) -> Subject? {
    if let known = caller.memory.asking, known.revision == book.revision { return known.subject }
    let isOwn = !terms.isSystem && caller.uid == terms.owner
    let subject =
      isOwn
      ? book.confining(CallerParts(caller, isSystem: false))
      : try? Subject(parsing: caller.author(isSystem: terms.isSystem))
    caller.memory.asking = (book.revision, subject)
    return subject
  }

  /// The subject that confines a caller to its grants in a user's vault, as text; nil if none does.
  package func confinement(of caller: Caller) -> String? {
    if case .confined(let subject) = holder(of: caller) { subject.description } else { nil }
  }

  /// The owner of one share of a limited resource: the room for placeholders and the places for prompts.
  enum Holder: Hashable {
    /// The processes of a subject that grants confine.
    case confined(Subject)
    /// A process, by its id and its start.
    case process(Int32, started: UInt64?)
  }

  func holder(of caller: Caller) -> Holder {
    let isOwn = !terms.isSystem && caller.uid == terms.owner
    if isOwn, let subject = subject(of: caller) { return .confined(subject) }
    return .process(caller.pid, started: caller.started)
  }

  /// The rights that an approval gives a caller without a grant, and the number of the approval; nil if there is none.
  func approval(_ right: Right, _ name: ItemName, for caller: Caller) -> (Permit, QuestionNumber?)? {
    guard !requests.approvals.isEmpty, let subject = subject(of: caller) else { return nil }
    let target = RequestTarget(subject, name)
    let now = vault.clock.boot()
    guard let approval = requests.approval(right, target, caller, now: now, of: { binding(of: name) }) else {
      return nil
    }
    return (Permit(Rights(approval.right)), approval.number)
  }

  /// The item that has a name now; nil if there is none, or if it cannot be determined.
  private func binding(of name: ItemName) -> ItemBinding? {
    guard let keychain = vault.openKeychain else { return nil }
    return try? keychain.binding(of: name)
  }

  /// Ends the requests for rights that grants give by now. The groups of a subject, which the name service knows, are
  /// looked up once, and not at all if `new` names no group.
  ///
  /// - Parameter new: the grant that was added, if nothing else has changed; nil to look at all grants.
  func settleRequests(_ new: Grant? = nil) {
    var known: [Subject: [UInt32]] = [:]
    for request in requests.pending where new.map({ $0.mayAnswer(request) }) ?? true {
      let (subject, name) = (request.target.subject, request.target.name)
      let groups = new?.namesGroup == false ? [] : known[subject] ?? self.groups(of: subject)
      known[subject] = groups
      if permit(CallerParts(subject, groups: groups), on: name).has(request.right, nil) {
        requests.drop(request.number, .approved)
      }
    }
  }

  // MARK: Answering

  /// Approves a request.
  ///
  /// - Parameter process: the process that the administrator was shown. For an approval of one process it must be the
  ///   process that asked last; nil to approve that process in any case.
  /// - Returns: the request.
  /// - Throws: the refusal, also if the caller is the subject that asked, and if there is no such item.
  package func approve(
    _ number: QuestionNumber, _ terms: ApprovalTerms, process: ShownProcess? = nil, for caller: Caller
  ) throws(Refusal) -> PendingRequest {
    let request = requests.request(number)
    let detail = [request.map { "\($0.target.subject) \($0.right.name)" }, terms.text, "number \(number)"]
      .compactMap { $0 }.joined(separator: ", ")
    guard let request else {
      return try vault.audit.recording(.approve, caller, nil, detail: detail) {
        () throws(Refusal) -> PendingRequest in
        _ = try administer(caller)
        throw .noSuchRequest(number)
      }
    }
    return try vault.audit.recording(.approve, caller, request.target.name.text, detail: detail) {
      entry throws(Refusal) in
      let keychain = try administer(caller)
      entry.item = binding(of: request.target.name)?.id
      try checkApprover(of: request, terms, process, caller)
      if stands(forAllOfCollection: request.target.name) {
        guard terms.isForGood else {
          throw .invalidGrant("the request is for all items of a collection, so it can only be approved for good")
        }
        try grant(request, terms, caller, entry)
        return request
      }
      let item: ItemBinding
      do throws(VaultError) { item = try keychain.binding(of: request.target.name) } catch {
        throw vault.refusal(error, request.target.name.text)
      }
      entry.item = item.id
      let policy = (try? keychain.item(named: request.target.name))?.policy
      if policy?.withholds(request.right) == true { throw .neverRead(request.target.name.text) }
      if terms.isForGood {
        try grant(request, terms, caller, entry)
      } else {
        let now = vault.clock.boot()
        let approval = Approval(request, item, terms, by: caller.uid, now: now)
        guard requests.hasRoom(for: approval, now: now) else { throw .busy("too many approvals are in effect") }
        try vault.audit.settle(entry)
        requests.approve(request, approval, now: now)
      }
      return request
    }
  }

  /// True if a request for this name is one for all items of a collection; see ``CollectionID/nameOfAll``.
  func stands(forAllOfCollection name: ItemName) -> Bool {
    CollectionID(allOf: name) != nil && binding(of: name) == nil
  }

  private func checkApprover(
    of request: PendingRequest, _ terms: ApprovalTerms, _ process: ShownProcess?, _ caller: Caller
  ) throws(Refusal) {
    if CallerParts(caller, isSystem: self.terms.isSystem).isAll(of: request.target.subject) {
      throw .denied("the caller that asked may not approve it")
    }
    guard terms.isOfSession else { return }
    guard request.asker.started != nil else {
      throw .invalidGrant("the asking process cannot be distinguished from a later process with the same id")
    }
    if let process, !request.isOfLast(process) {
      throw .interrupted("another process of that subject has asked meanwhile")
    }
  }

  /// Gives a grant for what a request asks for, in addition to the subject's rights on that name.
  private func grant(
    _ request: PendingRequest, _ terms: ApprovalTerms, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) {
    let name = request.target.name
    guard let pattern = try? ItemPattern(name.text), pattern.isExact || stands(forAllOfCollection: name) else {
      throw .invalidGrant("the name has a * or a ? in it, so a grant for it would also cover other items")
    }
    let now = vault.newestTime
    // The end is stored in all classes, so it is counted from a time that no weaker class has set.
    let until = terms.seconds.map { Seconds.after($0, vault.newestTime(of: .whenUnlocked)) }
    var rights = Rights(request.right)
    let old = book.all.first { $0.grant.subject == request.target.subject && $0.grant.pattern == pattern }?.grant
    if let old, old.counts(at: now) {
      guard old.until == until else {
        throw .invalidGrant(
          "there is already a grant for the same subject and item with another end; change that grant")
      }
      rights.formUnion(old.rights)
    }
    _ = try give(request.target.subject, pattern, rights, until: until, for: caller, within: entry)
    requests.drop(request.number, .approved)
  }

  /// Denies a request, or revokes an approval. For a while, nobody is asked again about any right of the same subject
  /// on the same item. With `isForGood`, nobody is asked until an administrator forgets the denial.
  package func deny(_ number: QuestionNumber, isForGood: Bool, for caller: Caller) throws(Refusal) -> RequestTarget {
    let target = requests.request(number)?.target ?? requests.approvals.first { $0.number == number }?.target
    let detail = [target?.subject.description, isForGood ? "always" : nil, "number \(number)"]
      .compactMap { $0 }.joined(separator: ", ")
    return try vault.audit.recording(.deny, caller, target?.name.text, detail: detail) { entry throws(Refusal) in
      try checkAdministrator(caller)
      guard let target else { throw .noSuchRequest(number) }
      if isForGood { try remember(denialOf: target, caller, entry) }
      try vault.audit.settle(entry)
      requests.deny(number, target, now: vault.clock.boot())
      return target
    }
  }

  private func remember(
    denialOf target: RequestTarget, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) {
    let keychain = try administer(caller)
    guard !book.denies(target) else { return }
    let record = GrantRecord(.denied(target.subject, target.name))
    try change(keychain, entry, removing: [], adding: [record]) { $0.deny(target, record.id) }
  }

  /// Lets a subject ask again for an item that it was denied.
  package func forgetDenial(of target: RequestTarget, for caller: Caller) throws(Refusal) {
    let detail = "\(target.subject), forgotten"
    try vault.audit.recording(.deny, caller, target.name.text, detail: detail) { entry throws(Refusal) in
      let keychain = try administer(caller)
      // The stored denials may be known only while the vault is unlocked.
      guard vault.state.kind == .unlocked else { throw vault.locked }
      let ids = book.denied[target] ?? []
      guard !ids.isEmpty || requests.denials.contains(where: { $0.target == target }) else { throw .noSuchRequest(nil) }
      if !ids.isEmpty { try change(keychain, entry, removing: ids) { $0.forgetDenial(of: target) } }
      try vault.audit.settle(entry)
      requests.forgetDenial(of: target)
    }
  }

  // MARK: Telling

  /// The number of requests that wait for an answer.
  package var pendingRequests: Int { requests.pending.count }

  /// All pending requests, approvals and denials; none without a store. The door checks that the caller is an
  /// administrator.
  package func toldRequests(for caller: Caller) throws(Refusal) -> ToldRequests {
    try vault.audit.recording(.find, caller, nil, detail: "requests") { () throws(Refusal) in try told() }
  }

  private func told() throws(Refusal) -> ToldRequests {
    var told = ToldRequests()
    guard let keychain = vault.openKeychain else { return told }
    let now = vault.clock.boot()
    requests.forgetOver(now)
    for request in requests.pending {
      var isMissing = false
      do throws(VaultError) { _ = try keychain.item(named: request.target.name) } catch {
        isMissing = error == .noSuchItem && !stands(forAllOfCollection: request.target.name)
      }
      told.pending.append((request, isMissing))
    }
    told.approvals = counting(requests.approvals)
    let remembered = book.denied.keys.map { (target: $0, until: Int64?.none) }
    let cooling = requests.denials.filter { now < $0.end && !book.denies($0.target) }
    told.denials = (remembered + cooling.map { ($0.target, until($0.end)) }).sorted {
      ($0.target.subject.description, $0.target.name.text) < ($1.target.subject.description, $1.target.name.text)
    }
    return told
  }

  /// The approvals among these that count now, each with the time at which it ends, in Unix seconds. An approval whose
  /// item has another name or policy by now does not count.
  func counting(_ approvals: [Approval]) -> [(approval: Approval, until: Int64?)] {
    let now = vault.clock.boot()
    return approvals.filter { $0.counts(at: now) && $0.item == binding(of: $0.target.name) }.map {
      ($0, $0.end.map(until))
    }
  }

  /// Ends the approvals of an item that has lost the name under which they were given. No list would show them, and
  /// they would count again if the item got its name back.
  func endApprovals(of name: ItemName) { _ = requests.revoke { $0.target.name == name } }

  /// A time in `CLOCK_BOOTTIME` nanoseconds, in Unix seconds.
  private func until(_ end: Int64) -> Int64 {
    Seconds.after((end - vault.clock.boot()) / 1_000_000_000, vault.clock.wall())
  }

  /// The grant that stands for an approval that was revoked, for the list of revoked grants.
  func grant(_ approval: Approval) -> Grant? {
    guard let pattern = try? ItemPattern(approval.target.name.text) else { return nil }
    return Grant(
      subject: approval.target.subject, pattern: pattern, rights: Rights(approval.right), created: vault.newestTime)
  }
}

extension Grant {
  /// True if the grant may be for the subject of a request, whose groups are not known, and for the requested name.
  fileprivate func mayAnswer(_ request: PendingRequest) -> Bool {
    guard pattern.matches(request.target.name) else { return false }
    let parts = request.target.subject.parts
    return subject.parts.allSatisfy { $0.kind == "group" || parts.contains($0) }
  }

  /// True if the grant's subject names a group.
  fileprivate var namesGroup: Bool { subject.parts.contains { $0.kind == "group" } }
}
