package import VaultModel
internal import VaultStore

/// All that gives the processes of a subject rights on items: what an administrator may do without a grant, grants,
/// and approvals.
///
/// Every answer to the question whether somebody may do something, or may no longer, comes from here. So no answer
/// denies a subject a right that another source still gives it.
package struct HeldRights {
  /// The items that a question is about.
  package enum Items {
    case named(ItemName)
    /// Any of the items that the pattern matches.
    case matching(ItemPattern)
    case all

    func has(_ name: ItemName) -> Bool {
      switch self {
      case .named(let own): own == name
      case .matching(let pattern): pattern.matches(name)
      case .all: true
      }
    }

    /// True if there may be such an item that `pattern` matches.
    func meets(_ pattern: ItemPattern) -> Bool {
      switch self {
      case .named(let name): pattern.matches(name)
      case .matching(let own): own.overlaps(pattern)
      case .all: true
      }
    }
  }

  /// One thing that gives rights.
  package struct Source {
    package enum Kind {
      /// The processes are administrators without a grant.
      case administrator
      case grant(Grant)
      /// An approval, and the time at which it ends, in Unix seconds.
      case approval(Approval, until: Int64?)
    }

    package let kind: Kind
    package let rights: Rights
    /// True if only some of the subject's processes have the rights from this source: one process, or those that are a
    /// narrower subject.
    package let isForSome: Bool

    var isApproval: Bool { if case .approval = kind { true } else { false } }
  }

  package private(set) var sources: [Source]

  /// The rights of every process that is the subject.
  package var rights: Rights { union { !$0.isForSome } }

  /// The rights that only some of these processes have.
  package var rightsOfSome: Rights { union { $0.isForSome }.subtracting(rights) }

  private func union(_ isMeant: (Source) -> Bool) -> Rights {
    sources.reduce(into: []) { if isMeant($1) { $0.formUnion($1.rights) } }
  }

  init(_ sources: [Source]) { self.sources = sources }

  /// The same sources without rights that nobody has on the item.
  func without(_ withheld: Rights) -> HeldRights {
    guard !withheld.isEmpty else { return self }
    return HeldRights(
      sources.compactMap {
        let left = $0.rights.subtracting(withheld)
        return left.isEmpty ? nil : Source(kind: $0.kind, rights: left, isForSome: $0.isForSome)
      })
  }
}

// The rights that a subject or a caller has, and what gives them.
extension Access {
  /// The rights of a subject's processes on items, with their sources. The door checks that the caller is an
  /// administrator.
  package func held(
    by subject: Subject, on items: HeldRights.Items, for caller: Caller
  ) throws(Refusal) -> HeldRights {
    var (name, detail): (String?, String) = (nil, "what \(subject) may do")
    switch items {
    case .named(let own): (name, detail) = (own.text, detail + " with it")
    case .matching(let pattern): detail += " with \(pattern.text)"
    case .all: break
    }
    return try vault.audit.recording(.find, caller, name, detail: detail) { () throws(Refusal) in
      _ = try vault.keychain()
      try checkGrantsKnown()
      guard AccessClass.allCases.allSatisfy(book.knows) else { throw vault.locked }
      return held(by: subject, CallerParts(subject, groups: groups(of: subject)), on: items).without(withheld(items))
    }
  }

  /// The rights that nobody has on the item of that name, because its key is never read.
  private func withheld(_ items: HeldRights.Items) -> Rights {
    guard case .named(let name) = items, let keychain = vault.openKeychain,
      let policy = try? keychain.item(named: name).policy
    else { return [] }
    return Rights(withheldBy: policy)
  }

  /// - Parameter parts: the parts of a process that is the subject, as far as the subject determines them.
  func held(by subject: Subject, _ parts: CallerParts, on items: HeldRights.Items) -> HeldRights {
    if isAdministrator(subject, parts) { return Self.administrator }
    let asking = asking(subject, parts)
    var sources = approvals(on: items) { approval in
      let own = approval.target.subject
      if own == asking { return approval.process != nil }
      return own.hasAllParts(of: subject) ? true : nil
    }
    let grants = book.grants(for: parts)
    sources += Self.sources(of: grants, items, now: vault.newestTime)
    // The grants of narrower subjects hold for some of the processes.
    let own = Set(grants.values.flatMap { $0 }.map(\.id))
    let now = vault.newestTime
    for (id, grant) in book.all where book.counting.contains(id) && !own.contains(id) && grant.counts(at: now) {
      guard grant.subject.hasAllParts(of: subject), items.meets(grant.pattern) else { continue }
      sources.append(.init(kind: .grant(grant), rights: grant.rights, isForSome: true))
    }
    return HeldRights(sources)
  }

  /// The rights of a caller on items, with their sources.
  func held(by caller: Caller, on items: HeldRights.Items) -> HeldRights {
    if isAdministrator(caller) { return Self.administrator }
    let asking = subject(of: caller)
    let sources = approvals(on: items) { approval in
      approval.target.subject == asking ? approval.process?.isSame(as: caller) == false : nil
    }
    let parts = CallerParts(caller, isSystem: terms.isSystem)
    return HeldRights(
      sources + Self.sources(of: readableBook(for: parts).grants(for: parts), items, now: vault.newestTime))
  }

  private static let administrator = HeldRights([.init(kind: .administrator, rights: .all, isForSome: false)])

  /// The approvals on items that count now.
  ///
  /// - Parameter isForSome: returns true for an approval that only some of the processes have, and nil for one that
  ///   none of them has.
  private func approvals(on items: HeldRights.Items, _ isForSome: (Approval) -> Bool?) -> [HeldRights.Source] {
    let found = requests.approvals.filter { items.has($0.target.name) && isForSome($0) != nil }
    return counting(found).map { approval, until in
      .init(
        kind: .approval(approval, until: until), rights: Rights(approval.right),
        isForSome: isForSome(approval) ?? true)
    }
  }

  /// The grants among `found` that count, in the order of their subjects and items.
  private static func sources(
    of found: [AccessClass: [GrantIndex.Entry]], _ items: HeldRights.Items, now: Int64
  ) -> [HeldRights.Source] {
    // A grant is in the list of each class.
    var ids: Set<ItemID> = []
    let grants = found.values.flatMap { $0 }.filter { entry in
      entry.grant.counts(at: now) && items.meets(entry.grant.pattern) && ids.insert(entry.id).inserted
    }.map(\.grant)
    return grants.sorted {
      ($0.subject.description, $0.pattern.text) < ($1.subject.description, $1.pattern.text)
    }.map { .init(kind: .grant($0), rights: $0.rights, isForSome: false) }
  }

  /// True when the processes of a subject are administrators without a grant.
  ///
  /// - Parameter parts: the parts of a process that is the subject, as far as the subject determines them.
  func isAdministrator(_ subject: Subject, _ parts: CallerParts) -> Bool {
    if let group = terms.administrators, parts.holds(.group(group)) { return terms.isSystem || !book.confines(parts) }
    guard !terms.isSystem else { return parts.holds(.user(0)) }
    // Only the processes of its user reach a user's vault, apart from root's.
    let isOwn = parts.holds(.user(terms.owner)) || !subject.parts.contains { $0.kind == "user" }
    return isOwn && !book.confines(parts)
  }

  /// The subject under which the processes of a subject ask for approvals, as far as the latter subject determines it;
  /// see ``subject(of:)``.
  private func asking(_ subject: Subject, _ parts: CallerParts) -> Subject? {
    let user = subject.parts.first { $0.kind == "user" }
    if !terms.isSystem, user.map({ $0 == .user(terms.owner) }) ?? true { return book.confining(parts) }
    guard let user else { return nil }
    let services = subject.parts.filter { part in
      if case .unit(let name) = part { name.hasSuffix(".service") && !name.hasPrefix("user@") } else { false }
    }
    return try? Subject([user] + services)
  }
}

extension Subject {
  /// True if all parts of another subject are among those of this one, so that only some of the other subject's
  /// processes match this subject, or all of them if the two are equal.
  fileprivate func hasAllParts(of other: Subject) -> Bool { other.parts.allSatisfy(parts.contains) }
}
