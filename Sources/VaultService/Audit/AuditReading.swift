internal import VaultCore
package import VaultModel
internal import VaultStore

/// A choice among the entries of the audit log.
package struct AuditFilter: Sendable {
  /// The time of the first and of the last ones, Unix seconds.
  package var since: Int64?
  package var until: Int64?
  /// The items, as a grant names them.
  package var items: ItemPattern?
  /// The callers, as a grant names them.
  package var subject: Subject?
  /// True for those alone that were refused.
  package var isRefused = false
  package var door: String?
  package var action: AuditAction?
  /// The number of the first one.
  package var from: Int64?
  /// The most of them, the last ones.
  package var last: Int?

  package init() {}

  func matches(_ entry: AuditEntry) -> Bool {
    if let since, entry.time < since { return false }
    if let until, entry.time > until { return false }
    if let items, !entry.mayBeOfAny, !(entry.item.flatMap { try? ItemName($0) }.map(items.matches) ?? false) {
      return false
    }
    if let subject, !(entry.caller?.isAll(of: subject) ?? false) { return false }
    if isRefused, entry.outcome == .ok { return false }
    if let door, entry.caller?.door != door { return false }
    return action == nil || entry.action == action
  }
}

extension AuditEntry {
  /// True when it counts what may have been about any item: who asks about one has to be told that there is more than
  /// what names it. Counts of nobody are those of earlier programs, which named their subject where others name an
  /// item.
  fileprivate var mayBeOfAny: Bool {
    guard let repeats, repeats.of == nil, item == nil || caller == nil else { return false }
    return AuditPart(of: action, outcome, isDaemon: false) == .values
  }
}

extension AuditEntry.Caller {
  /// True when a subject's parts hold for it, as far as the log tells them.
  fileprivate func isAll(of subject: Subject) -> Bool {
    subject.parts.allSatisfy { part in
      switch part {
      case .user(let uid): self.uid == uid
      case .unit(let name): unit == name
      case .executable(let path): executable == path
      case .group, .digest: false
      }
    }
  }
}

/// Somebody who reads the audit log, in pages.
///
/// It holds keys of the log until it is at the end, and lets go of them at a lock.
package final class AuditReading: SecretHolder {
  package typealias Found = (number: Int64, entry: AuditEntry)

  /// The part of the log that somebody may read.
  enum Scope {
    case all
    /// What is about its user, and its service where it is one.
    case user
    /// What is about the same program of its user, and the same unit: of one that has its grants alone, other programs of the
    /// user are others.
    case program
  }

  /// What is known of the log after all of it was looked at.
  package struct Result {
    package struct Fault {
      /// The numbers of the first and the last entry that it is about, where something tells.
      package let first: Int64?
      package let last: Int64?
      package let text: String
    }

    package let faults: [Fault]
    /// The number of entries that nothing vouches for.
    package let unvouched: Int64
    /// The numbers of the last entry, and of the last one that was taken out.
    package let total: Int64
    package let cut: Int64
    /// What stands for all of it, in hexadecimal.
    package let link: String

    fileprivate init(_ walk: AuditWalk, cut: Int64) {
      faults = walk.faults.map { Fault(first: $0.first, last: $0.last, text: $0.text) }
      unvouched = walk.unvouched
      (total, link) = (walk.checked.entries, walk.checked.link.array.hex)
      self.cut = cut
    }
  }

  /// The rows between two looks at the clock.
  private static let stride = 8
  /// The most entries that are looked up before some are told, and the most of one page.
  private static let mostFound = 512
  private static let mostOfPage = 100
  private let audit: Audit
  private let filter: AuditFilter
  /// Who reads it, as the log tells it, and what of it that is to be.
  private let own: AuditEntry.Caller
  private var scope: Scope
  /// Decides that anew: grants come and go while somebody follows.
  private let decide: () throws(Refusal) -> Scope
  /// True when nobody reads on.
  package private(set) var hasEnded = false
  private var walk: AuditWalk?
  private let isCheck: Bool
  /// True where it is told of what comes, and so of counts when they are written down, and not before.
  package var isFollowing = false
  /// The entries that others may tell more of, by their numbers, and those that were met before these: of a minute there are
  /// no more than either has.
  private var known: [Int64: AuditEntry] = [:]
  private var earlier: [Int64: AuditEntry] = [:]
  /// The last ones that were found, where a number of the last ones is asked for.
  private var kept: [Found] = []
  /// Those that were found and are still to be told.
  private var ready: ArraySlice<Found> = []
  /// The number of the next entry.
  private var next: Int64
  /// The number of the entry behind those that were there when it began to look at the log last.
  private var seen: Int64
  /// What came of it; nil before the end.
  package private(set) var result: Result?
  package private(set) var progress: (done: Int64, of: Int64) = (0, 0)
  /// The time at which its reader heard of it last, `CLOCK_MONOTONIC` nanoseconds.
  package var told: Int64

  init(
    _ audit: Audit, _ keychain: Keychain, _ filter: AuditFilter, own: AuditEntry.Caller, noted: [Int64: Digest]?,
    in holders: SecretHolders, decide: @escaping () throws(Refusal) -> Scope
  ) throws(Refusal) {
    self.audit = audit
    self.filter = filter
    self.own = own
    self.decide = decide
    isCheck = noted != nil
    scope = try decide()
    told = audit.clock.monotonic()
    next = filter.from ?? 1
    seen = keychain.nextAuditEntry
    do throws(VaultError) {
      if let noted {
        walk = try keychain.auditWalk(noted: noted)
      } else if let from = filter.from {
        walk = try keychain.auditWalk(from: from)
      } else {
        // From a minute before on, for what the first ones may tell more of.
        walk =
          if let since = filter.since {
            try keychain.auditWalk(since: Seconds.after(-AuditRepeats.span, since))
          } else {
            try keychain.auditWalk()
          }
      }
    } catch { throw Refusal(error) }
    super.init(in: holders)
  }

  /// The next entries, a page at most of those that are found until that time, `CLOCK_MONOTONIC` nanoseconds, and whether there
  /// are no more.
  ///
  /// - Throws: why it cannot go on.
  package func page(until end: Int64, now: () -> Int64) throws(Refusal) -> (found: [Found], isOver: Bool) {
    try decideAnew()
    if ready.isEmpty { ready = try look(until: end, now: now)[...] }
    let page = Array(ready.prefix(Self.mostOfPage))
    ready = ready.dropFirst(Self.mostOfPage)
    return (page, walk == nil && ready.isEmpty)
  }

  /// Goes on with the log until that time: what is found, which may be nothing.
  private func look(until end: Int64, now: () -> Int64) throws(Refusal) -> [Found] {
    guard let keychain = audit.keychain(), let walk else { throw .busy("the vault was locked meanwhile") }
    var found: [Found] = []
    var isOver = false
    do throws(VaultError) {
      repeat {
        isOver = try walk.step(keychain, rows: Self.stride) { number, entry in meet(number, entry, &found) }
      } while !isOver && now() < end && found.count < Self.mostFound
    } catch { throw Refusal(error) }
    progress = walk.progress
    if isOver {
      result = Result(walk, cut: keychain.auditFacts.cut)
      self.walk = nil
      if !isCheck, !isFollowing { found += counted(after: keychain.nextAuditEntry) }
    }
    guard let last = filter.last else { return found }
    kept += found
    // Moved to the front now and then, and not for each that was found.
    if isOver || kept.count >= 2 * last + Self.mostFound { kept.removeFirst(max(0, kept.count - last)) }
    guard isOver else { return [] }
    defer { kept = [] }
    return kept
  }

  /// The entries of what is counted and not written down yet, with the numbers that the tally's entries have.
  private func counted(after next: Int64) -> [Found] {
    audit.untold.enumerated().map { (next + Int64($0), $1) }.filter { isShown($0.1) && filter.matches($0.1) }
  }

  private func decideAnew() throws(Refusal) {
    let now = try decide()
    guard scope == .all else {
      // Whoever may read more by now begins anew.
      if now != .all { scope = now }
      return
    }
    guard now == .all else { throw .denied("you may read no more than what is about yourself now") }
  }

  private func meet(_ number: Int64, _ entry: AuditEntry, _ found: inout [Found]) {
    var entry = entry
    if let of = entry.repeats?.of {
      // What it tells more of says who asked and for what, unless that was taken out.
      if let first = known[of] ?? earlier[of] {
        (entry.caller, entry.item, entry.detail) = (first.caller, first.item, first.detail)
        entry.purpose = first.purpose
      }
    } else if entry.isCounted {
      if known.count >= AuditRepeats.mostOfAll { (earlier, known) = (known, [:]) }
      known[number] = entry
    }
    guard number >= next else { return }
    next = number + 1
    guard isShown(entry) else { return }
    if filter.matches(entry) { found.append((number, entry)) }
  }

  /// True when an entry is of the part that is to be read.
  private func isShown(_ entry: AuditEntry) -> Bool {
    if scope == .all { return true }
    guard let caller = entry.caller, caller.uid == own.uid else { return false }
    if scope == .program { return caller.unit == own.unit && caller.executable == own.executable }
    return own.unit?.hasSuffix(".service") == true ? caller.unit == own.unit : true
  }

  // MARK: Following

  /// Has it told when there are entries behind the end; `page` gives them then. Those that came while others were told are
  /// there already.
  package func follow(_ tell: @escaping () -> Void) {
    let goOn: () -> Void = { [weak self] in
      guard let self, !hasEnded, let keychain = audit.keychain() else { return }
      // Without the keys there is nothing to read until the next unlock.
      guard walk == nil, ready.isEmpty, let walk = try? keychain.auditWalk(from: next) else { return }
      self.walk = walk
      seen = keychain.nextAuditEntry
      tell()
    }
    audit.follow(ObjectIdentifier(self), goOn)
    if let keychain = audit.keychain(), keychain.nextAuditEntry != seen { goOn() }
  }

  package func end() {
    hasEnded = true
    audit.unfollow(ObjectIdentifier(self))
    walk = nil
    (known, earlier, ready) = ([:], [:], [])
  }

  package override func letGo(for lock: Lock) {
    walk = nil
    // They name items.
    (known, earlier, kept, ready) = ([:], [:], [], [])
  }

  package override func outlives(_ lock: Lock) -> Bool {
    walk != nil || !known.isEmpty || !earlier.isEmpty || !kept.isEmpty || !ready.isEmpty
  }
}
