internal import VaultCore
package import VaultModel
internal import VaultStore

// Questions about grants: who has which, and who may do what.
extension Access {
  /// A grant as shown to a caller.
  package struct ToldGrant {
    package let grant: Grant
    /// True when the grant counts now.
    package let isActive: Bool
  }

  /// A filter for a list of grants.
  package struct GrantFilter {
    /// Selects the grants of a process that is this subject, without those that have ended.
    package var subject: Subject?
    /// Selects the grants for the item of this name.
    package var name: ItemName?
    /// Selects the grants that were not used for this many seconds.
    package var unused: Int64?

    package init(subject: Subject? = nil, name: ItemName? = nil, unused: Int64? = nil) {
      (self.subject, self.name, self.unused) = (subject, name, unused)
    }
  }

  /// Begins a reading of the grants that a filter selects. An administrator is shown all of these, anybody else only
  /// the caller's own.
  package func grants(_ filter: GrantFilter, for caller: Caller) throws(Refusal) -> GrantReading {
    let whose = filter.subject.map { "grants of \($0)" } ?? "grants"
    return try vault.audit.recording(.find, caller, filter.name?.text, detail: whose) { () throws(Refusal) in
      try GrantReading(self, filter, caller)
    }
  }

  /// The grants that a filter selects now and that the caller may see, unordered.
  func found(_ filter: GrantFilter, _ caller: Caller) throws(Refusal) -> [(id: ItemID, grant: Grant)] {
    _ = try vault.keychain()
    let standing = standing(of: caller)
    guard standing.isAdministrator || !standing.isUndecided else { throw vault.locked }
    try checkGrantsKnown()
    let now = vault.newestTime
    let parts = filter.subject.map { CallerParts($0, groups: groups(of: $0)) }
    let own = standing.isAdministrator ? nil : Set(standing.grants.values.flatMap { $0?.entries ?? [] }.map(\.id))
    return book.all.filter { id, grant in
      if let own, !own.contains(id) { return false }
      if let parts, !parts.isAll(of: grant.subject) || !grant.counts(at: now) { return false }
      if let name = filter.name, !grant.pattern.matches(name) { return false }
      guard let unused = filter.unused else { return true }
      return Seconds.from(uses[id] ?? grant.used ?? grant.created, to: now) >= unused
    }
  }

  /// A grant as shown to a caller now.
  func told(_ id: ItemID, _ grant: Grant) -> ToldGrant {
    var grant = grant
    if let used = uses[id] { grant.used = used }
    return ToldGrant(grant: grant, isActive: book.counting.contains(id) && grant.counts(at: vault.newestTime))
  }

  /// The subjects that are confined to their grants in a user's vault; empty for a caller who is not an administrator.
  package func confinedSubjects(for caller: Caller) -> [Subject] {
    isAdministrator(caller) ? book.confined.keys.sorted { $0.description < $1.description } : []
  }

  /// True when a subject is confined to its grants, and the caller is an administrator.
  package func isConfined(_ subject: Subject, for caller: Caller) -> Bool {
    book.confined[subject] != nil && isAdministrator(caller)
  }

  /// The time since which grants wait for somebody to confirm them, in Unix seconds; nil if none wait.
  package var unconfirmedSince: Int64? { book.unconfirmed.values.min() }

  /// The answer to the question whether somebody has a right on an item.
  package struct Answer {
    package let isAllowed: Bool
    /// The sources of the right. If the right is not allowed, the sources that give it to some of the processes that
    /// were asked about.
    package let sources: [HeldRights.Source]
  }

  /// Decides whether a process that is a subject has a right on the item of this name, even if there is no such item.
  /// Administrators may ask about every subject, others only about themselves.
  ///
  /// - Parameter subject: nil for the caller.
  package func can(
    _ subject: Subject?, _ right: Right, _ name: ItemName, for caller: Caller
  ) throws(Refusal) -> Answer {
    let question = "whether \(subject.map { "\($0)" } ?? "the caller") may \(right.name) it"
    return try vault.audit.recording(.find, caller, name.text, detail: question) { () throws(Refusal) in
      try answer(subject, right, name, caller)
    }
  }

  private func answer(
    _ subject: Subject?, _ right: Right, _ name: ItemName, _ caller: Caller
  ) throws(Refusal) -> Answer {
    let keychain = try vault.keychain()
    let (permit, held): (Permit, HeldRights)
    if let subject, isAdministrator(caller) {
      let parts = CallerParts(subject, groups: groups(of: subject))
      permit = isAdministrator(subject, parts) ? .administrator : self.permit(parts, on: name)
      held = self.held(by: subject, parts, on: .named(name))
    } else {
      let parts = CallerParts(caller, isSystem: terms.isSystem)
      if let subject, !parts.isAll(of: subject) { throw .denied("you may ask only about yourself") }
      permit = self.permit(caller, on: name)
      held = self.held(by: caller, on: .named(name))
    }
    let sources = held.sources.filter { $0.rights.contains(right) }
    // An approval counts for a caller to whom no grant gives the right on an item of any class.
    let isApproved = !permit.mayHave(right) && sources.contains { $0.isApproval && !$0.isForSome }
    // The item is not looked up for a subject that cannot have the right: the time of the search would tell whether the
    // item exists.
    if isApproved || permit.mayHave(right) {
      let policy = (try? keychain.item(named: name))?.policy
      if policy?.withholds(right) == true { return Answer(isAllowed: false, sources: []) }
      if isApproved || permit.has(right, policy?.accessible) { return Answer(isAllowed: true, sources: sources) }
    }
    if permit.isUndecided { throw vault.locked }
    return Answer(isAllowed: false, sources: sources.filter(\.isForSome))
  }

  /// The rights that grants give on an item to a process with these parts.
  func permit(_ parts: CallerParts, on name: ItemName) -> Permit {
    let found = book.grants(for: parts)
    let now = vault.newestTime
    var permit = Permit(isUndecided: AccessClass.allCases.contains { found[$0] == nil })
    for (accessible, entries) in found {
      permit[accessible] = GrantIndex(entries, noteUse: nil).rights(on: name, now: now)
    }
    return permit
  }

  /// Checks that the grants of some class are known and trusted. Without this check the caller would be shown an empty
  /// list, and would believe it.
  ///
  /// - Throws: the reason why nobody can determine the grants for items of any class.
  func checkGrantsKnown() throws(Refusal) {
    guard AccessClass.allCases.contains(where: book.knows) else { throw vault.locked }
    if !book.isTrusted, let problem = book.problem { throw Refusal(grants: problem) }
  }

  /// The subjects that have rights on any of the items of these names by grants that count now, each with all such
  /// rights.
  package func subjects(on names: [ItemName]) -> [(subject: Subject, rights: Rights)] {
    guard !names.isEmpty else { return [] }
    let now = vault.newestTime
    var names = ComparedNames(names)
    var found: [Subject: Rights] = [:]
    for (id, grant) in book.all where book.counting.contains(id) && grant.counts(at: now) {
      // A grant that adds nothing to what was found is not compared.
      if let rights = found[grant.subject], rights.isSuperset(of: grant.rights) { continue }
      if names.has(grant.pattern) { found[grant.subject, default: []].formUnion(grant.rights) }
    }
    return found.map { ($0.key, $0.value) }.sorted { $0.subject.description < $1.subject.description }
  }

  /// The most steps of the comparisons that ``subjects(on:)`` makes of names with patterns; see ``CallLimits/steps``.
  func steps(of names: [ItemName]) -> Int {
    guard !book.all.isEmpty, !names.isEmpty else { return 0 }
    let names = ComparedNames(names)
    var patterns: Set<ItemPattern> = []
    return book.all.reduce(0) { sum, one in
      sum + names.steps(with: one.grant.pattern) { !patterns.insert(one.grant.pattern).inserted }
    }
  }

  /// The subjects and rights that ``subjects(on:)`` returns for one name, with an entry in the audit log. The door
  /// checks that the caller is an administrator.
  package func whoMay(_ name: ItemName, for caller: Caller) throws(Refusal) -> [(subject: Subject, rights: Rights)] {
    try vault.audit.recording(.find, caller, name.text, detail: "who may do what") { () throws(Refusal) in
      try checkGrantsKnown()
      return subjects(on: [name])
    }
  }
}
