internal import VaultCore
package import VaultModel
internal import VaultStore

/// Somebody who reads the audit log, in pages.
///
/// It holds keys of the log until it is at the end, and lets go of them at a lock.
package final class AuditReading: SecretHolder {
  /// An entry that was found.
  package struct Found {
    package let number: Int64
    package let entry: AuditEntry
    /// The name that its item has now, where that is another one.
    package var now: ItemName?
    /// True where its item is not there any more, as far as its reader may know.
    package var isGone = false
    /// True where the log has the name of its item alone.
    package let isByName: Bool

    init(_ number: Int64, _ entry: AuditEntry) {
      (self.number, self.entry, isByName) = (number, entry, entry.isByName)
    }
  }

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
  /// True when its reader may find an item, or with nil whether there is one of a name.
  private let mayFind: (ItemName, ItemInfo?) -> Bool
  /// The item that ``AuditFilter/item`` means.
  private var asked: ItemID?
  /// Its place among all readers, until its end.
  private var place: AuditReaders.Place?
  /// True when nobody reads on.
  package private(set) var hasEnded = false
  private var walk: AuditWalk?
  private let isCheck: Bool
  /// True where it is told of what comes, and so of counts when they are written down, and not before.
  package var isFollowing = false
  private var firsts = AuditFirsts()
  /// The search for the last entries, where a number of them is asked for, until it is known where they begin.
  private var search: LastEntries?
  /// The entries that are passed over before the last ones are told.
  private var skip = 0
  /// The number of the first entry that was not there when the search ended.
  private var lastEnd: Int64?
  /// The number of uses of items whose entries have a name alone, and another one than is asked for.
  package private(set) var othersByName = 0
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
    _ audit: Audit, _ place: AuditReaders.Place, _ keychain: Keychain, _ filter: AuditFilter, own: AuditEntry.Caller,
    noted: [Int64: Digest]?, in holders: SecretHolders, mayFind: @escaping (ItemName, ItemInfo?) -> Bool,
    decide: @escaping () throws(Refusal) -> Scope
  ) throws(Refusal) {
    self.audit = audit
    self.place = place
    self.filter = filter
    self.own = own
    search = filter.last.map { LastEntries($0) }
    (self.decide, self.mayFind) = (decide, mayFind)
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
    asked = filter.item.flatMap { itemAsked($0, keychain) }
  }

  /// The item that has a name now or, in the trash, had it last, as far as the reader may know of it: nothing is looked
  /// at for one who may not.
  private func itemAsked(_ name: ItemName, _ keychain: Keychain) -> ItemID? {
    guard scope == .all || mayFind(name, nil) else { return nil }
    if let item = try? keychain.item(named: name) { return scope == .all || mayFind(name, item) ? item.id : nil }
    return scope == .all ? (try? keychain.trashedItem(named: name))?.id : nil
  }

  /// The next entries, a page at most of those that are found until that time, `CLOCK_MONOTONIC` nanoseconds, and whether there
  /// are no more.
  ///
  /// - Throws: why it cannot go on.
  package func page(until end: Int64, now: () -> Int64) throws(Refusal) -> (found: [Found], isOver: Bool) {
    try decideAnew()
    if ready.isEmpty { ready = try look(until: end, now: now)[...] }
    var page = Array(ready.prefix(Self.mostOfPage))
    // Of a check nothing is told but its result.
    if !isCheck, try !tell(&page, until: end, now: now) { return ([], false) }
    ready = ready.dropFirst(Self.mostOfPage)
    return (page, walk == nil && ready.isEmpty)
  }

  /// Tells of entries what their items are called now; false where that takes longer.
  private func tell(_ page: inout [Found], until end: Int64, now: () -> Int64) throws(Refusal) -> Bool {
    guard let keychain = audit.keychain(), keychain.knowsAllNames else { return true }
    let names = audit.readers.names
    for index in page.indices {
      guard let id = page[index].entry.id, let name = page[index].entry.item, scope == .all || mayAsk(name) else {
        continue
      }
      let item: AuditNames.Item?
      do throws(VaultError) {
        item = try names.item(id, named: name, keychain) { now() >= end }
      } catch { throw Refusal(error) }
      switch item {
      case .renamed(let item) where scope == .all || mayFind(item.name, item): page[index].now = item.name
      case .renamed, .gone: page[index].isGone = true
      case .same: break
      case nil: return false
      }
    }
    return true
  }

  /// True when the reader may know whether there is an item of that name.
  private func mayAsk(_ name: String) -> Bool { (try? ItemName(name)).map { mayFind($0, nil) } ?? false }

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
    guard isOver else { return found }
    if result == nil { result = Result(walk, cut: keychain.auditFacts.cut) }
    self.walk = nil
    if isCheck { return found }
    let counted = isFollowing ? [] : counted(after: keychain.nextAuditEntry)
    guard let search else { return found + counted }
    let tail = try beginLast(search, keychain, counted)
    return self.walk == nil || now() >= end ? tail : try look(until: end, now: now)
  }

  /// Begins to tell the last entries, where all are found; those that are only counted where there are no others.
  private func beginLast(_ search: LastEntries, _ keychain: Keychain, _ counted: [Found]) throws(Refusal) -> [Found] {
    self.search = nil
    lastEnd = next
    guard let start = search.start(before: counted.count) else { return counted.suffix(filter.last ?? counted.count) }
    do throws(VaultError) { walk = try keychain.auditWalk(from: start.entry) } catch { throw Refusal(error) }
    // Nobody tells more of an entry in another chain, and the walk begins with one.
    firsts = AuditFirsts()
    (next, skip) = (start.entry, start.skip)
    return []
  }

  /// The entries of what is counted and not written down yet, with the numbers that they have until then: what was
  /// counted after entries, and what is beyond subjects' parts.
  private func counted(after next: Int64) -> [Found] {
    let repeats = audit.subjects.repeated.compactMap { firsts.entry(of: $0) }
    return (repeats + audit.untold).enumerated().filter { isShown($0.element) && filter.matches($0.element, of: asked) }
      .map { Found(next + Int64($0.offset), $0.element) }
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
    firsts.begin(number)
    // The entry that it tells more of says who asked and for what, unless that was taken out.
    let isOfOther = entry.repeats?.of.map { !firsts.fill(&entry, of: $0) } ?? false
    let isMine = !isOfOther && isShown(entry) && filter.matchesAtAnyTime(entry, of: asked)
    if isMine, entry.isCounted { firsts.add(entry, number) }
    guard number >= next else { return }
    // The entry to begin at was taken out meanwhile.
    if number > next { skip = 0 }
    next = number + 1
    if let lastEnd, number >= lastEnd, !isFollowing { return }
    guard !isOfOther, filter.isOfItsTime(entry) else { return }
    guard isMine else {
      if filter.item != nil, lastEnd == nil, entry.isByName, isShown(entry) { othersByName += 1 }
      return
    }
    if search != nil {
      search?.add(number)
    } else if skip > 0 {
      skip -= 1
    } else {
      found.append(Found(number, entry))
    }
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
    (walk, place) = (nil, nil)
    (firsts, ready) = (AuditFirsts(), [])
  }

  package override func letGo(for lock: Lock) {
    walk = nil
    // They name items.
    (firsts, ready) = (AuditFirsts(), [])
  }

  package override func outlives(_ lock: Lock) -> Bool {
    walk != nil || !firsts.isEmpty || !ready.isEmpty
  }
}
