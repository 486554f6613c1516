internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The grants in memory, for items of each class, and the records that decide how the grants count.
struct GrantBook {
  private var pages: [AccessClass: Page] = [:]
  /// The subjects whose processes are confined to their grants in a user's vault, and the ids of their records.
  private(set) var confined: [Subject: Set<ItemID>] = [:]
  /// The ids of the records that say that the grants wait for confirmation, each with the time since which they wait,
  /// in Unix seconds.
  private(set) var unconfirmed: [ItemID: Int64] = [:]
  /// Records that were revoked but could not be removed from the store in every class yet.
  private(set) var revoked: Set<ItemID> = []
  /// Grants to revoke as soon as they can be read.
  private var coming: [Coming] = []
  /// The classes whose records have named the confined subjects, and the classes whose records, at the last reading,
  /// were not the ones stored last. A lock forgets neither.
  private var (told, doubted): (Set<AccessClass>, Set<AccessClass>) = ([], [])
  /// The ids of the grants that count, for items of some class, until they end.
  private(set) var counting: Set<ItemID> = []
  /// All grants, each once, whether or not they count.
  private(set) var all: [(id: ItemID, grant: Grant)] = []
  /// The number of changes.
  private(set) var revision = 0
  /// ``confined``, by the same part of the subject as ``byPart``.
  private var confinedByPart: [Subject.Part: [Subject]] = [:]
  /// True if a confined subject names the digest of a file. In a user's vault, the subject of each grant that names one
  /// is confined.
  private(set) var namesDigest = false
  /// The grants by one part of their subject, the unit if it has one, so that a caller is compared with few grants.
  private var byPart: [Subject.Part: [(accessible: AccessClass, entry: GrantIndex.Entry)]] = [:]

  /// Loads the records of one class that the store has.
  mutating func load(_ accessible: AccessClass, _ records: [GrantRecord]) { load([accessible: .stored(records)]) }

  /// Loads the records of several classes at once.
  ///
  /// - Parameter sets: the sets of the records that were stored last.
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

  /// The sets of the records in the store that contain exactly what is in memory, for each class for which such a set
  /// is known.
  var sets: [AccessClass: RecordSet] { pages.compactMapValues(\.set) }

  /// Notes that the pages of these classes contain exactly what the store has now.
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

  /// Notes that the records of a class in the store are not the ones that the vault stored last.
  private mutating func distrust(_ accessible: AccessClass, _ records: [GrantRecord], because problem: VaultError) {
    var page = Page(problem: problem)
    for record in records { restrict(&page, record) }
    pages[accessible] = page
    doubted.insert(accessible)
  }

  /// Applies a record that restricts somebody; a grant is not applied.
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

  /// Drops the page of a class. Its grants do not count until they are read again.
  mutating func forget(_ accessible: AccessClass) {
    guard pages.removeValue(forKey: accessible) != nil else { return }
    count()
  }

  /// Drops everything, because the vault has another store now.
  mutating func forgetAll() {
    let next = revision + 1
    self = GrantBook()
    revision = next
  }

  /// Removes grants, which do not count from now on.
  ///
  /// - Parameter isStored: true if no record of them is left in the store.
  mutating func revoke(_ ids: Set<ItemID>, isStored: Bool) {
    for accessible in pages.keys { pages[accessible]?.grants.removeAll { ids.contains($0.id) } }
    if isStored { revoked.subtract(ids) } else { revoked.formUnion(ids) }
    changed(ids)
  }

  /// Marks the grants of a subject, all or those for a pattern, for revocation in each class that cannot be read now,
  /// as soon as that class is read.
  mutating func revokeComing(_ subject: Subject, _ pattern: ItemPattern?) {
    let classes = Set(AccessClass.allCases.filter { !knows($0) })
    if classes.isEmpty { return }
    if let index = coming.firstIndex(where: { $0.subject == subject && $0.pattern == pattern }) {
      coming[index].classes.formUnion(classes)
    } else {
      coming.append(Coming(subject: subject, pattern: pattern, classes: classes))
    }
  }

  /// Notes that no record of these grants is left in the store.
  mutating func haveStored(_ ids: Set<ItemID>) { revoked.subtract(ids) }

  /// Adds a grant in place of the grants with the ids in `old`.
  mutating func put(_ record: GrantRecord, insteadOf old: Set<ItemID>) {
    for accessible in pages.keys {
      pages[accessible]?.grants.removeAll { old.contains($0.id) }
      if let grant = record.grant { pages[accessible]?.grants.append((record.id, grant)) }
    }
    changed(old.union([record.id]))
  }

  /// Takes over from the records of grants the times of their last uses. That does not change which grants count.
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

  /// Notes that a subject may not ask for an item any more.
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

  /// Notes a change of the records, and determines again which of the grants with these ids count.
  private mutating func changed(_ ids: Set<ItemID>) {
    // The store has another set of records now.
    for accessible in pages.keys { pages[accessible]?.set = nil }
    count(ids)
  }

  /// Determines again which of the grants with these ids count; nil for all grants.
  private mutating func count(_ ids: Set<ItemID>? = nil) {
    revision += 1
    confinedByPart = Dictionary(grouping: confined.keys, by: Self.key)
    namesDigest = confined.keys.contains(where: \.namesDigest)
    takeOut(ids)
    var told: Set<ItemID> = []
    for accessible in AccessClass.allCases {
      for entry in pages[accessible]?.grants ?? [] where ids?.contains(entry.id) ?? true {
        if told.insert(entry.id).inserted { all.append(entry) }
      }
      for (id, grant) in counting(accessible, among: ids) {
        counting.insert(id)
        byPart[Self.key(grant.subject), default: []].append((accessible, GrantIndex.Entry(id, grant)))
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
      byPart[part]?.removeAll { ids.contains($0.entry.id) }
      if byPart[part]?.isEmpty == true { byPart[part] = nil }
    }
    all.removeAll { ids.contains($0.id) }
    counting.subtract(ids)
  }

  /// The grants with these ids that count for items of a class. If the grants of a stronger class are known, only those
  /// that the stronger class has, too.
  ///
  /// A grant is stored in all classes at once. A grant that only a weaker class has was added by somebody who has the
  /// key of that class alone. For instance, if the boot key is on the disk, whoever has the disk has the key of
  /// `always` items.
  private func counting(_ accessible: AccessClass, among ids: Set<ItemID>?) -> [(id: ItemID, grant: Grant)] {
    guard let page = pages[accessible] else { return [] }
    // The classes are in order from the strongest to the weakest.
    let stronger = AccessClass.allCases.prefix { $0 != accessible }.compactMap { pages[$0] }
    guard !page.isUnconfirmed, !stronger.contains(where: \.isUnconfirmed) else { return [] }
    let grants = page.among(ids)
    guard let judge = stronger.first(where: { $0.problem == nil }) else { return grants }
    let known = Dictionary(judge.among(ids).map { ($0.id, $0.grant) }) { first, _ in first }
    return grants.filter { id, grant in known[id].map { $0.isSame(as: grant) } == true }
  }

  /// The part of a subject by which its records are found: the unit if it has one.
  static func key(_ subject: Subject) -> Subject.Part {
    subject.parts.first { if case .unit = $0 { true } else { false } } ?? subject.parts[0]
  }

  // MARK: Questions

  func knows(_ accessible: AccessClass) -> Bool { pages[accessible] != nil }

  /// The reason why the records of some class are not the ones that the vault stored last; nil if all records that were
  /// read are.
  var problem: VaultError? { AccessClass.allCases.lazy.compactMap { pages[$0]?.problem }.first }

  /// True when the records of some class are the ones that the vault stored last.
  var isTrusted: Bool { pages.values.contains { $0.problem == nil } }

  /// True when the confined subjects are known. If the records of some class were not the ones stored last, the records
  /// of the `always` class are not enough: whoever has the disk may have the key of that class.
  var knowsConfined: Bool { told.contains { $0 != .always || doubted.isEmpty } }

  /// True when a caller with these parts is confined to its grants.
  func confines(_ caller: CallerParts) -> Bool {
    caller.keys.contains { confinedByPart[$0]?.contains(where: caller.mayBeAll) == true }
  }

  /// True if a confined subject names the digest of a file, and the caller is the subject if its file has that digest.
  func needsDigest(of caller: CallerParts) -> Bool {
    caller.keys.contains { key in
      confinedByPart[key]?.contains { $0.namesDigest && caller.mayBeAll(of: $0) } == true
    }
  }

  /// The subject that confines a caller with these parts to its grants: the most specific one.
  func confining(_ caller: CallerParts) -> Subject? {
    mostSpecific(caller.keys.flatMap { confinedByPart[$0] ?? [] }.filter(caller.isAll))
  }

  /// The most specific confined subject that the caller is, or was before its file was replaced.
  func holding(_ caller: CallerParts) -> Subject? {
    mostSpecific(caller.keys.flatMap { confinedByPart[$0] ?? [] }.filter(caller.wasAll))
  }

  private func mostSpecific(_ subjects: [Subject]) -> Subject? {
    subjects.max { ($0.parts.count, $1.description) < ($1.parts.count, $0.description) }
  }

  /// True when some grant that counts is found by this part (``key(_:)``): a unit or, for a subject without a unit, the
  /// subject's first part.
  func names(_ part: Subject.Part) -> Bool { byPart[part] != nil }

  /// True when some grant that counts is for that user in that unit.
  func namesUser(_ uid: UInt32, with unit: String) -> Bool {
    byPart[.unit(unit)]?.contains { $0.entry.grant.subject.parts.contains(.user(uid)) } == true
  }

  /// True when a subject may not ask for an item any more.
  func denies(_ target: RequestTarget) -> Bool { pages.values.contains { $0.denied[target] != nil } }

  /// All targets for which nobody may ask any more, with the ids of the records that say so.
  var denied: [RequestTarget: Set<ItemID>] {
    pages.values.reduce(into: [:]) { all, page in
      for (target, id) in page.denied { all[target, default: []].insert(id) }
    }
  }

  /// The grants, for items of each class, of a caller with these parts.
  func grants(for caller: CallerParts) -> [AccessClass: [GrantIndex.Entry]] {
    var found: [AccessClass: [GrantIndex.Entry]] = [:]
    for accessible in pages.keys { found[accessible] = [] }
    for key in caller.keys {
      for (accessible, entry) in byPart[key] ?? [] where caller.isAll(of: entry.grant.subject) {
        found[accessible]?.append(entry)
      }
    }
    return found
  }
}
