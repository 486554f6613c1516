internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The grants that are in memory, for items of each class, and what decides how they count.
struct GrantBook {
  private var pages: [AccessClass: Page] = [:]
  /// The subjects whose processes have their grants alone, in a user's vault, and the ids of their records.
  private(set) var confined: [Subject: Set<ItemID>] = [:]
  /// The ids of records by which grants wait to be confirmed.
  private(set) var unconfirmed: [ItemID: Int64] = [:]
  /// Records that were revoked and could not be removed from the store in every class yet.
  private(set) var revoked: Set<ItemID> = []
  /// Those that are to be revoked as soon as they are known.
  private var coming: [Coming] = []
  /// The classes whose records have told the subjects that have their grants alone, and those whose records were not
  /// what was stored when they were read last. Neither is forgotten by a lock.
  private var (told, doubted): (Set<AccessClass>, Set<AccessClass>) = ([], [])
  /// The ids of the grants that count, for items of some class, until their time.
  private(set) var counting: Set<ItemID> = []
  /// All grants, each once, whether or not they count.
  private(set) var all: [(id: ItemID, grant: Grant)] = []
  /// Counts changes.
  private(set) var revision = 0
  /// ``confined`` by the same part as below.
  private var confinedByPart: [Subject.Part: [Subject]] = [:]
  /// The grants by a part of their subject, the unit where it has one, so that a caller is held against few.
  private var byPart: [Subject.Part: [(accessible: AccessClass, id: ItemID, grant: Grant)]] = [:]

  /// Takes in what the store has for items of a class.
  mutating func load(_ accessible: AccessClass, _ records: [GrantRecord]) { load([accessible: .stored(records)]) }

  /// The same for several classes at once.
  ///
  /// - Parameter sets: those of the records that were stored last.
  mutating func load(_ read: [AccessClass: Loaded], _ sets: [AccessClass: RecordSet] = [:]) {
    for accessible in AccessClass.allCases {
      switch read[accessible] {
      case .stored(let records): take(accessible, records)
      case .changed(let records, let problem): distrust(accessible, records, because: problem)
      case nil: continue
      }
      pages[accessible]?.set = sets[accessible]
    }
    count()
  }

  /// The sets of the records in the store that say what is known of each class, and nothing else, as far as that is known.
  var sets: [AccessClass: RecordSet] { pages.compactMapValues(\.set) }

  /// Takes note that what is known of some classes is what the store has now.
  mutating func agree(_ sets: [AccessClass: RecordSet]) {
    for (accessible, set) in sets { pages[accessible]?.set = set }
  }

  private mutating func take(_ accessible: AccessClass, _ records: [GrantRecord]) {
    var page = Page()
    for record in records {
      switch record.content {
      case .grant(let grant):
        if isRevoked(grant, accessible) { revoked.insert(record.id) }
        if !revoked.contains(record.id) { page.grants.append((record.id, grant)) }
      case .confined, .unconfirmed, .denied: restrict(&page, record)
      }
    }
    pages[accessible] = page
    told.insert(accessible)
    doubted.remove(accessible)
    for index in coming.indices { coming[index].classes.remove(accessible) }
    coming.removeAll { $0.classes.isEmpty }
  }

  /// Takes note that what the store has for items of a class is not what was stored.
  private mutating func distrust(_ accessible: AccessClass, _ records: [GrantRecord], because problem: VaultError) {
    var page = Page(problem: problem)
    for record in records { restrict(&page, record) }
    pages[accessible] = page
    doubted.insert(accessible)
  }

  /// Takes in a record that takes something from somebody.
  private mutating func restrict(_ page: inout Page, _ record: GrantRecord) {
    switch record.content {
    case .grant: break
    case .confined(let subject): confined[subject, default: []].insert(record.id)
    case .unconfirmed(let since):
      page.isUnconfirmed = true
      unconfirmed[record.id] = since
    case .denied(let subject, let name): page.denied[RequestTarget(subject, name)] = record.id
    }
  }

  private func isRevoked(_ grant: Grant, _ accessible: AccessClass) -> Bool {
    coming.contains { coming in
      coming.classes.contains(accessible) && coming.subject == grant.subject
        && (coming.pattern == nil || coming.pattern == grant.pattern)
    }
  }

  /// Drops what it knows of a class, whose grants count no more until they are read again.
  mutating func forget(_ accessible: AccessClass) {
    guard pages.removeValue(forKey: accessible) != nil else { return }
    count()
  }

  /// Drops everything: the store is another one now.
  mutating func forgetAll() {
    let next = revision + 1
    self = GrantBook()
    revision = next
  }

  /// Takes grants out that are to count no more from now on. `isStored` when no record of them is left.
  mutating func revoke(_ ids: Set<ItemID>, isStored: Bool) {
    for accessible in pages.keys { pages[accessible]?.grants.removeAll { ids.contains($0.id) } }
    if isStored { revoked.subtract(ids) } else { revoked.formUnion(ids) }
    changed(ids)
  }

  /// Has the grants of a subject, all or those for a pattern, be revoked in each class that cannot be read now, when it is.
  mutating func revokeComing(_ subject: Subject, _ pattern: ItemPattern?) {
    let classes = Set(AccessClass.allCases.filter { !knows($0) })
    if !classes.isEmpty { coming.append(Coming(subject: subject, pattern: pattern, classes: classes)) }
  }

  /// No record of these is left in the store.
  mutating func haveStored(_ ids: Set<ItemID>) { revoked.subtract(ids) }

  /// Puts a grant in, in place of those with the ids in `old`.
  mutating func put(_ record: GrantRecord, insteadOf old: Set<ItemID>) {
    for accessible in pages.keys {
      pages[accessible]?.grants.removeAll { old.contains($0.id) }
      if let grant = record.grant { pages[accessible]?.grants.append((record.id, grant)) }
    }
    changed(old.union([record.id]))
  }

  /// Takes note of when grants were used, as their records say it, which changes nothing about what counts.
  mutating func use(_ records: [GrantRecord]) {
    let used = Dictionary(records.map { ($0.id, $0.grant?.used) }) { first, _ in first }
    func note(_ entries: inout [(id: ItemID, grant: Grant)]) {
      for index in entries.indices {
        if let time = used[entries[index].id] { entries[index].grant.used = time }
      }
    }
    for accessible in pages.keys { note(&pages[accessible]!.grants) }
    note(&all)
  }

  mutating func confine(_ subject: Subject, _ id: ItemID) {
    confined[subject, default: []].insert(id)
    changed([])
  }

  mutating func forget(_ subject: Subject) {
    confined[subject] = nil
    changed([])
  }

  /// Puts in that a subject may not ask for an item any more.
  mutating func deny(_ target: RequestTarget, _ id: ItemID) {
    for accessible in pages.keys { pages[accessible]?.denied[target] = id }
    changed([])
  }

  mutating func forgetDenial(of target: RequestTarget) {
    for accessible in pages.keys { pages[accessible]?.denied[target] = nil }
    changed([])
  }

  mutating func confirm() {
    unconfirmed = [:]
    for accessible in pages.keys { pages[accessible]?.isUnconfirmed = false }
    changed([])
    count()
  }

  /// Takes note of a change of the records, and finds out anew which grants count, of those with these ids.
  private mutating func changed(_ ids: Set<ItemID>) {
    // The store has another set now.
    for accessible in pages.keys { pages[accessible]?.set = nil }
    count(ids)
  }

  /// Finds out anew which grants count, of those with these ids; nil for all.
  private mutating func count(_ ids: Set<ItemID>? = nil) {
    revision += 1
    confinedByPart = Dictionary(grouping: confined.keys, by: Self.key)
    takeOut(ids)
    var told: Set<ItemID> = []
    for accessible in AccessClass.allCases {
      for entry in pages[accessible]?.grants ?? [] where ids?.contains(entry.id) ?? true {
        if told.insert(entry.id).inserted { all.append(entry) }
      }
      for (id, grant) in counting(accessible, among: ids) {
        counting.insert(id)
        byPart[Self.key(grant.subject), default: []].append((accessible, id, grant))
      }
    }
  }

  private mutating func takeOut(_ ids: Set<ItemID>?) {
    guard let ids else {
      (all, counting, byPart) = ([], [], [:])
      return
    }
    guard !ids.isEmpty else { return }
    for part in Set(all.lazy.filter { ids.contains($0.id) }.map { Self.key($0.grant.subject) }) {
      byPart[part]?.removeAll { ids.contains($0.id) }
      if byPart[part]?.isEmpty == true { byPart[part] = nil }
    }
    all.removeAll { ids.contains($0.id) }
    counting.subtract(ids)
  }

  /// The grants for items of a class that count, of those with these ids: where a stronger class is known, those that it has, too.
  ///
  /// A grant is stored in all classes at once. One that only a weaker class has was put there by somebody who has that class's key
  /// alone, as whoever has the disk has that of `always` items where the boot key is on it.
  private func counting(_ accessible: AccessClass, among ids: Set<ItemID>?) -> [(id: ItemID, grant: Grant)] {
    guard let page = pages[accessible] else { return [] }
    // The classes stand in that order.
    let stronger = AccessClass.allCases.prefix { $0 != accessible }.compactMap { pages[$0] }
    guard !page.isUnconfirmed, !stronger.contains(where: \.isUnconfirmed) else { return [] }
    let grants = page.among(ids)
    guard let judge = stronger.first(where: { $0.problem == nil }) else { return grants }
    let known = Dictionary(judge.among(ids).map { ($0.id, $0.grant) }) { first, _ in first }
    return grants.filter { id, grant in known[id].map { $0.isSame(as: grant) } == true }
  }

  private static func key(_ subject: Subject) -> Subject.Part {
    subject.parts.first { if case .unit = $0 { true } else { false } } ?? subject.parts[0]
  }

  // MARK: What it says

  func knows(_ accessible: AccessClass) -> Bool { pages[accessible] != nil }

  /// The reason why what the store has for items of some class is not what was stored; nil where all that is known is.
  var problem: VaultError? { AccessClass.allCases.lazy.compactMap { pages[$0]?.problem }.first }

  /// True when what it says of some class is what was stored.
  var isTrusted: Bool { pages.values.contains { $0.problem == nil } }

  /// True when the subjects that have their grants alone are known. Where other records were not what was stored, the
  /// word of those of `always` items is not enough: whoever has the disk may have their key.
  var knowsConfined: Bool { told.contains { $0 != .always || doubted.isEmpty } }

  /// True when a caller of which these parts hold has its grants alone.
  func confines(_ caller: CallerParts) -> Bool {
    caller.keys.contains { confinedByPart[$0]?.contains(where: caller.wasAll) == true }
  }

  /// The subject that holds a caller of which these parts hold to its grants: the one that says most of it.
  func confining(_ caller: CallerParts) -> Subject? {
    mostTelling(caller.keys.flatMap { confinedByPart[$0] ?? [] }.filter(caller.isAll))
  }

  /// The same, also of a caller that was that subject before its file was replaced.
  func holding(_ caller: CallerParts) -> Subject? {
    mostTelling(caller.keys.flatMap { confinedByPart[$0] ?? [] }.filter(caller.wasAll))
  }

  private func mostTelling(_ subjects: [Subject]) -> Subject? {
    subjects.max { ($0.parts.count, $1.description) < ($1.parts.count, $0.description) }
  }

  /// True when some grant that counts is for a subject with that part, which has no unit but that one.
  func names(_ part: Subject.Part) -> Bool { byPart[part] != nil }

  /// True when some grant that counts is for that user in that unit.
  func namesUser(_ uid: UInt32, with unit: String) -> Bool {
    byPart[.unit(unit)]?.contains { $0.grant.subject.parts.contains(.user(uid)) } == true
  }

  /// True when a subject may not ask for an item any more.
  func denies(_ target: RequestTarget) -> Bool { pages.values.contains { $0.denied[target] != nil } }

  /// Everything that nobody may ask for any more, with the ids of the records that say so.
  var denied: [RequestTarget: Set<ItemID>] {
    pages.values.reduce(into: [:]) { all, page in
      for (target, id) in page.denied { all[target, default: []].insert(id) }
    }
  }

  /// The grants, for items of each class, of a caller of which these parts hold.
  func grants(for caller: CallerParts) -> [AccessClass: [GrantIndex.Entry]] {
    var found: [AccessClass: [GrantIndex.Entry]] = [:]
    for accessible in pages.keys { found[accessible] = [] }
    for key in caller.keys {
      for (accessible, id, grant) in byPart[key] ?? [] where caller.isAll(of: grant.subject) {
        found[accessible]?.append(GrantIndex.Entry(id, grant))
      }
    }
    return found
  }
}
