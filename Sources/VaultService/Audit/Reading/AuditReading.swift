internal import VaultBytes
internal import VaultCore
package import VaultModel
internal import VaultStore

/// A reading of the audit log, in pages.
///
/// It holds keys of the log until it is at the end, and drops them at a lock.
package final class AuditReading: SecretHolder {
  /// An entry that was found.
  package struct Found {
    /// The number of the entry; 0 for a count that is not written yet.
    package let number: Int64
    package let entry: AuditEntry
    /// The present name of the entry's item, if it differs from the name in the entry and the reader may know it.
    package var now: ItemName?
    /// True when the entry's item no longer exists, as far as the reader may know.
    package var isGone = false
    /// True when the log has only the name of the item.
    package let isByName: Bool

    init(_ number: Int64, _ entry: AuditEntry) {
      (self.number, self.entry, isByName) = (number, entry, entry.isByName)
    }
  }

  /// The part of the log that a caller may read.
  enum Scope {
    case all
    /// The entries about the caller's user. If the caller is a service, only those about the same service of that user.
    case user
    /// The entries about the same program and unit of the user. A program that is confined to its grants must not see
    /// other programs of the user.
    case program
  }

  /// The result of a check of the whole log.
  package struct Result {
    package struct Fault {
      /// The numbers of the first and the last entry with the fault; nil if the numbers are not known.
      package let first: Int64?
      package let last: Int64?
      package let text: String
    }

    package let faults: [Fault]
    /// The number of entries that nothing vouches for.
    package let unvouched: Int64
    /// The number of the last entry, and the number of the last entry that was removed.
    package let total: Int64
    package let cut: Int64
    /// The hash that stands for the whole log, in hexadecimal.
    package let link: String
    /// The number of links noted elsewhere that were compared, and of those about entries that were removed, which
    /// nobody can compare.
    package let compared: Int
    package let uncompared: Int

    fileprivate init(_ walk: AuditWalk, _ noted: AuditNotes, cut: Int64) {
      faults =
        walk.faults.map { Fault(first: $0.first, last: $0.last, text: $0.text) } + noted.faults(except: walk.agreed)
      unvouched = walk.unvouched
      (total, link) = (walk.checked.entries, walk.checked.link.array.hex)
      self.cut = cut
      // A further link for an entry is compared with the first one.
      (compared, uncompared) = (walk.notes - walk.uncompared + noted.further, walk.uncompared)
    }
  }

  /// The number of rows between two readings of the clock.
  private static let stride = 8
  /// The most entries that are found before some are returned, and the most entries of one page.
  private static let mostFound = 512
  private static let mostOfPage = 100
  private let audit: Audit
  private let filter: AuditFilter
  /// The reader, in the words of the log, and the scope of its reading.
  private let own: AuditEntry.Caller
  private var scope: Scope
  /// Decides the scope again, because grants change while somebody follows the log.
  private let decide: () throws(Refusal) -> Scope
  /// Decides whether the reader may find an item of that name and policy; with nil, whether the reader may know if
  /// there is an item of that name.
  private let mayFind: (ItemName, Policy?) -> Bool
  /// The item that ``AuditFilter/item`` stands for; nil for none, and until the search for it is over.
  private var asked: ItemID?
  /// The search in the trash for that item; nil if it is over, or not needed.
  private var search: TrashSearch?
  /// The place among all readers; nil after the end.
  private var place: AuditReaders.Place?
  /// True when the reader has stopped.
  package private(set) var hasEnded = false
  private var walk: AuditWalk?
  /// The notes with which the log is compared; nil if the log is not checked.
  private let noted: AuditNotes?
  private var isCheck: Bool { noted != nil }
  /// True when the reader is also told of new entries. Counts are then shown when they are written, and not before.
  package var isFollowing = false
  private var firsts = AuditFirsts()
  private var stage: AuditStage
  /// The number of entries that match the rest of the filter, but contain only an item's name, which is not the name
  /// that is asked for. Such an entry may be about the wanted item under an earlier name.
  package private(set) var othersByName = 0
  /// The times of which the entries met so far show that the log does not have them.
  private var met: AuditGaps
  /// The entries that were found and are still to be returned.
  private var ready: ArraySlice<Found> = []
  /// The counts that are not written yet and that are still to be returned among the last entries, by their times.
  private var waiting: ArraySlice<Found> = []
  /// True until the first of the last entries is returned, if there are matching entries before it.
  private var leavesOlder = false
  /// The number of the next entry.
  private var next: Int64
  /// The number after the last entry that existed when the log was last looked at.
  private var seen: Int64
  /// The result; nil before the end.
  package private(set) var result: Result?
  package private(set) var progress: (done: Int64, of: Int64) = (0, 0)
  /// The time at which the reader was last told of progress, in `CLOCK_MONOTONIC` nanoseconds.
  package var told: Int64

  init(
    _ audit: Audit, _ place: AuditReaders.Place, _ keychain: Keychain, _ filter: AuditFilter, own: AuditEntry.Caller,
    noted: AuditNotes?, in holders: SecretHolders, mayFind: @escaping (ItemName, Policy?) -> Bool,
    decide: @escaping () throws(Refusal) -> Scope
  ) throws(Refusal) {
    self.audit = audit
    self.place = place
    self.filter = filter
    self.own = own
    stage = AuditStage(last: filter.last)
    met = AuditGaps(since: filter.since, until: filter.until)
    (self.decide, self.mayFind) = (decide, mayFind)
    self.noted = noted
    scope = try decide()
    told = audit.clock.monotonic()
    next = filter.from ?? 1
    seen = keychain.nextAuditEntry
    do throws(VaultError) {
      if let noted {
        walk = try keychain.auditWalk(noted: noted.links, others: noted.others)
      } else if let from = filter.from {
        walk = try keychain.auditWalk(from: from)
      } else {
        // The walk begins a minute earlier, to read entries that the first ones may repeat.
        walk =
          if let since = filter.since {
            try keychain.auditWalk(since: Seconds.after(-AuditRepeats.span, since))
          } else {
            try keychain.auditWalk()
          }
      }
    } catch { throw Refusal(error) }
    super.init(in: holders)
    if let name = filter.item { findAsked(name, keychain) }
  }

  /// Finds the item that has a name now or, if none has it, begins the search in the trash for the item that had the
  /// name last, as far as the reader may know of the item. For a reader who may not know whether the item exists,
  /// nothing is looked up.
  private func findAsked(_ name: ItemName, _ keychain: Keychain) {
    guard scope == .all || mayFind(name, nil) else { return }
    if let item = try? keychain.item(named: name) {
      if scope == .all || mayFind(name, item.policy) { asked = item.id }
    } else if scope == .all {
      search = TrashSearch()
    }
  }

  /// Continues the search in the trash until the time `end`; true when the search is over. After an error, no item
  /// counts as found.
  private func hasSearched(_ keychain: Keychain, until end: Int64, now: () -> Int64) -> Bool {
    guard let search, let name = filter.item else { return true }
    do throws(VaultError) {
      while try !keychain.searchTrash(name, search) { if now() >= end { return false } }
      asked = try keychain.trashedItem(named: name, found: search).id
    } catch {}
    self.search = nil
    return true
  }

  /// The next entries, at most a page, and whether there are no more.
  ///
  /// - Parameter end: the time at which the search for entries pauses, in `CLOCK_MONOTONIC` nanoseconds.
  /// - Throws: the reason why the reading cannot continue.
  package func page(until end: Int64, now: () -> Int64) throws(Refusal) -> (found: [Found], isOver: Bool) {
    try decideAnew()
    if ready.isEmpty { ready = try look(until: end, now: now)[...] }
    var page = Array(ready.prefix(Self.mostOfPage))
    // A check returns only its result.
    if !isCheck, try !tell(&page, until: end, now: now) { return ([], false) }
    ready = ready.dropFirst(Self.mostOfPage)
    return (page, walk == nil && ready.isEmpty)
  }

  /// Adds the present names of items to the entries of a page; false if the time was up before.
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
      case .renamed(let name, let policy) where scope == .all || mayFind(name, policy): page[index].now = name
      case .renamed, .gone: page[index].isGone = true
      case .same: break
      case nil: return false
      }
    }
    return true
  }

  /// True when the reader may know whether there is an item of that name.
  private func mayAsk(_ name: String) -> Bool { (try? ItemName(name)).map { mayFind($0, nil) } ?? false }

  /// Continues the walk until the time `end`.
  ///
  /// - Returns: the entries that were found, which may be none.
  private func look(until end: Int64, now: () -> Int64) throws(Refusal) -> [Found] {
    guard let keychain = audit.keychain(), let walk else {
      throw .interrupted("the vault was locked meanwhile", "unlock it, and try again")
    }
    progress = walk.progress
    guard hasSearched(keychain, until: end, now: now) else { return [] }
    var found: [Found] = []
    var isOver = false
    do throws(VaultError) {
      repeat {
        isOver = try walk.step(keychain, rows: Self.stride) { number, entry in meet(number, entry, &found) }
      } while !isOver && now() < end && found.count < Self.mostFound
    } catch { throw Refusal(error) }
    progress = walk.progress
    guard isOver else { return found }
    if result == nil { result = Result(walk, noted ?? AuditNotes(), cut: keychain.auditFacts.cut) }
    self.walk = nil
    if isCheck { return found }
    if try beginLater(keychain) { return now() >= end ? found : found + (try look(until: end, now: now)) }
    if stage.isAtLast {
      defer { waiting = [] }
      return found + waiting
    }
    let counted = isFollowing ? [] : counted
    switch stage.beginLast(at: next) {
    case .isOver: return found + counted
    case .isEmpty: return counted.suffix(filter.last ?? counted.count)
    case .begins(let entry, let hasOlder):
      waiting = counted.sorted { $0.entry.time < $1.entry.time }.suffix(filter.last ?? counted.count)
      leavesOlder = hasOlder
      do throws(VaultError) { self.walk = try keychain.auditWalk(from: entry) } catch { throw Refusal(error) }
      // No entry repeats an entry of another chain, and the walk begins with a chain.
      firsts = AuditFirsts()
      next = entry
      return now() >= end ? [] : try look(until: end, now: now)
    }
  }

  /// Begins a walk over the entries that were written during the reading; false if there are none, if a follower gets
  /// them anyway, or if enough such walks were made.
  private func beginLater(_ keychain: Keychain) throws(Refusal) -> Bool {
    // All that was there at the beginning has been walked over, whether it was asked for or not.
    next = max(next, seen)
    guard !isFollowing, keychain.nextAuditEntry > next, stage.beginLater(at: next) else { return false }
    audit.write()
    do throws(VaultError) { walk = try keychain.auditWalk(from: next) } catch { throw Refusal(error) }
    return true
  }

  /// The entries of counts that are not written yet: repetitions, and events beyond subjects' parts. Such an entry has
  /// no number of its own, so its number is 0.
  private var counted: [Found] {
    let repeats = audit.subjects.repeated.compactMap { firsts.entry(of: $0) }
    return (repeats + audit.untold).filter { isShown($0) && filter.matches($0, of: asked) }.map { Found(0, $0) }
  }

  /// The times, among those that the reader asks about, for which the log cannot tell what happened. Call this at the
  /// end. Nil for a reader who does not ask about times: of the last entries alone, of new ones, or of a check.
  ///
  /// Every reader is told: these times say nothing of what others do, and a reader could learn them from its own
  /// entries that are there or missing.
  package var gaps: AuditGaps? {
    guard !isCheck, !isFollowing, filter.last == nil, let keychain = audit.keychain() else { return nil }
    var gaps = met
    let areUnreadable = result?.faults.isEmpty == false
    gaps.conclude(
      begin: keychain.auditBegin, areOff: audit.settings.mode == .off, haveLost: audit.lost > 0 || areUnreadable)
    return gaps
  }

  private func decideAnew() throws(Refusal) {
    let now = try decide()
    guard scope == .all else {
      // A reader who may read more by now must begin again.
      if now != .all { scope = now }
      return
    }
    guard now == .all else { throw .denied("you may now read only the entries about yourself") }
  }

  private func meet(_ number: Int64, _ entry: AuditEntry, _ found: inout [Found]) {
    var entry = entry
    firsts.begin(number)
    // A repetition gets its caller and its purpose from the entry that it repeats, unless that entry was removed.
    let isOfOther = entry.repeats?.of.map { !firsts.fill(&entry, of: $0) } ?? false
    let isMine = !isOfOther && isShown(entry) && filter.matchesAtAnyTime(entry, of: asked)
    if isMine, entry.isCounted { firsts.add(entry, number) }
    guard number >= next else { return }
    // The entry to begin at was removed meanwhile.
    if number > next { stage.hasLost() }
    next = number + 1
    met.meet(entry)
    guard isFollowing || stage.includes(number, entry), !isOfOther, filter.isOfItsTime(entry) else { return }
    guard isMine else {
      if !stage.isAtLast, isShown(entry), filter.isOfOtherName(entry) { othersByName += 1 }
      return
    }
    guard stage.finds(number) else { return }
    takeWaiting(before: entry.time, &found)
    found.append(Found(number, entry))
  }

  /// Takes the counts that come before an entry. Those that come before the first of the last entries are left out, as
  /// the entries before it are.
  private func takeWaiting(before time: Int64, _ found: inout [Found]) {
    guard stage.isAtLast else { return }
    let earlier = waiting.prefix { $0.entry.time < time }
    if !leavesOlder { found += earlier }
    waiting.removeFirst(earlier.count)
    leavesOlder = false
  }

  /// True when an entry is in the scope of the reading.
  private func isShown(_ entry: AuditEntry) -> Bool {
    if scope == .all { return true }
    guard let caller = entry.caller, caller.uid == own.uid else { return false }
    if scope == .program { return caller.unit == own.unit && caller.executable == own.executable }
    return own.unit?.hasSuffix(".service") == true ? caller.unit == own.unit : true
  }

  // MARK: Following

  /// Calls `tell` when there are new entries after the end, which ``page(until:now:)`` then returns; also for entries
  /// that came while earlier ones were being returned.
  package func follow(_ tell: @escaping () -> Void) {
    guard !hasEnded else { return }
    let goOn: () -> Void = { [weak self] in
      guard let self, !hasEnded, let keychain = audit.keychain() else { return }
      // Without the keys nothing can be read until the next unlock.
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
    (firsts, ready, waiting) = (AuditFirsts(), [], [])
  }

  package override func letGo(for lock: Lock) {
    walk = nil
    // These contain names of items.
    (firsts, ready, waiting) = (AuditFirsts(), [], [])
  }

  package override func outlives(_ lock: Lock) -> Bool {
    walk != nil || !firsts.isEmpty || !ready.isEmpty || !waiting.isEmpty
  }
}
