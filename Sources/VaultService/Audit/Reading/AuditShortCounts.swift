internal import VaultCore
internal import VaultModel

/// All counts in a form so short that one record holds them. Each subject has a fair share of the record, in bytes: a
/// subject that needs less than its share keeps all names. If one record cannot hold the counts even without names, the
/// subjects with the most bytes are merged with the strangers.
///
/// Each later event is counted here as well, so its cost is that of one record and not that of all counts.
struct AuditShortCounts {
  /// The counts of one subject.
  private struct One {
    let subject: AuditSubject
    private(set) var counts: AuditCounts
    /// The bytes of a record that the counts take, and the callers in it.
    private(set) var size = 0
    private var callers: Set<AuditEntry.Caller> = []
    /// The parts whose counts have no names.
    private let nameless: Set<AuditPart>

    init(_ subject: AuditSubject, _ counts: AuditCounts, nameless: Set<AuditPart>) {
      (self.subject, self.counts, self.nameless) = (subject, counts, nameless)
      for part in nameless { self.counts.forgetNames(part) }
      measure()
    }

    private mutating func measure() {
      (size, callers) = (AuditBlock.subjectSize, [])
      counts.eachKind { take($0) }
    }

    mutating func count(_ kind: AuditCounts.Kind, isNew: Bool, beyond part: AuditPart, at time: Int64) {
      var kind = kind
      if nameless.contains(part) { kind.forgetNames() }
      // A kind that has lost its name or its user stays without it.
      if !isNew, !counts.has(kind, part) {
        kind.forgetNames()
        if !counts.has(kind, part), kind.door != nil { kind.uid = AuditEntry.Caller.others }
      }
      if counts.add(AuditCounts.Count(count: 1, last: time), to: kind, part) { take(kind) }
    }

    private mutating func take(_ kind: AuditCounts.Kind) {
      size += kind.size
      if let caller = kind.caller(of: subject), callers.insert(caller).inserted { size += AuditBlock.size(of: caller) }
    }

    /// Removes names until the counts take at most `bytes` bytes, or no name is left: first the names of refused calls,
    /// last those of changes of rights. If that is not enough, users are merged.
    mutating func shorten(to bytes: Int) {
      for part in AuditPart.allCases.reversed() where size > bytes && counts.named(part) > 0 {
        counts.forgetNames(part, freeing: size - bytes)
        measure()
      }
      guard size > bytes, Set(callers.map(\.uid)).count > 1 else { return }
      counts.forgetUsers()
      measure()
    }

    /// Adds the counts of another subject, without names and users, and without doors if the doors take too much room.
    mutating func merge(_ other: AuditCounts) {
      add(other, hasDoors: true)
      guard size > AuditShortCounts.room / 2 else { return }
      let all = counts
      counts = AuditCounts()
      add(all, hasDoors: false)
    }

    private mutating func add(_ other: AuditCounts, hasDoors: Bool) {
      for part in AuditPart.allCases {
        for (kind, count) in other.untold(part) {
          let kind = AuditCounts.Kind(
            action: kind.action, outcome: kind.outcome, door: hasDoors ? kind.door : nil, uid: AuditEntry.Caller.others)
          counts.add(count, to: kind, part)
        }
      }
      measure()
    }

    /// Removes all counts, so that they take no room.
    mutating func empty() { (counts, size, callers) = (AuditCounts(), 0, []) }
  }

  /// The bytes of a record that counts may take.
  static let room = AuditBlock.capacity - AuditBlock.overhead

  let hasNames: Bool
  /// The size of the whole log in bytes, and the time of these counts in `CLOCK_BOOTTIME` nanoseconds.
  private let log: (size: Int64, now: Int64)
  private let strangers: AuditSubject
  private var ones: [One]
  /// The index of a subject's counts.
  private var places: [ObjectIdentifier: Int] = [:]
  private var size: Int

  /// The subjects that are merged with the strangers.
  private var merged: Set<ObjectIdentifier> = []

  /// - Parameters:
  ///   - strangers: the subject with which subjects without a place of their own are counted.
  ///   - hasNames: false to leave out all names. With true, names are left out only for a subject's parts that are
  ///     fuller than even last counts may make them. The counts of earlier processes can fill a part that far, and with
  ///     names each restart would make the log longer by a record that no part limits.
  init(
    _ subjects: [AuditSubject], strangers: AuditSubject, hasNames: Bool, in log: (size: Int64, now: Int64)
  ) {
    self.hasNames = hasNames
    self.log = log
    self.strangers = strangers
    ones = subjects.map { One($0, $0.counts, nameless: Self.nameless($0, hasNames: hasNames, log)) }
    for (index, subject) in subjects.enumerated() { places[ObjectIdentifier(subject)] = index }
    size = ones.reduce(0) { $0 + $1.size }
    shorten()
  }

  private static func nameless(
    _ subject: AuditSubject, hasNames: Bool, _ log: (size: Int64, now: Int64)
  ) -> Set<AuditPart> {
    Set(AuditPart.allCases.filter { !hasNames || subject.budget.isOver($0, log.size, now: log.now) })
  }

  /// True when one record holds all counts.
  var fits: Bool { size <= Self.room }

  /// The entries of the counts.
  var entries: [AuditEntry] { AuditCounts.entries(of: ones.map { ($0.subject, $0.counts) }) }

  /// Counts an event.
  ///
  /// - Parameters:
  ///   - kind: the kind under which its subject has counted the event.
  ///   - isNew: true if the subject had counted nothing of that kind before.
  mutating func count(
    _ kind: AuditCounts.Kind, isNew: Bool, of subject: AuditSubject, beyond part: AuditPart, at time: Int64
  ) {
    let isMerged = merged.contains(ObjectIdentifier(subject))
    let index = place(of: isMerged ? strangers : subject)
    size -= ones[index].size
    ones[index].count(kind, isNew: isNew && !isMerged, beyond: part, at: time)
    size += ones[index].size
    shorten()
  }

  private mutating func place(of subject: AuditSubject) -> Int {
    if let known = places[ObjectIdentifier(subject)] { return known }
    let new = One(subject, AuditCounts(), nameless: Self.nameless(subject, hasNames: hasNames, log))
    ones.append(new)
    size += new.size
    places[ObjectIdentifier(subject)] = ones.count - 1
    return ones.count - 1
  }

  // MARK: Shares

  /// Removes names of the subjects that take more than a fair share, while one record does not hold all counts. A
  /// subject that takes more even without names is merged with the strangers.
  private mutating func shorten() {
    var (open, room) = (Array(ones.indices), Self.room)
    while !fits, !open.isEmpty {
      let share = Self.share(of: room, open.map { ones[$0].size })
      for index in open where ones[index].size > share {
        size -= ones[index].size
        ones[index].shorten(to: share)
        size += ones[index].size
      }
      let over = open.filter { ones[$0].size > share }
      let others = merge(over)
      open.removeAll { over.contains($0) || $0 == others }
      room = Self.room - ones[others].size
    }
  }

  /// Merges subjects with the strangers, the largest first, while one record does not hold all counts.
  ///
  /// - Returns: the index of the strangers' counts.
  private mutating func merge(_ indices: [Int]) -> Int {
    let others = place(of: strangers)
    for index in indices.sorted(by: { ones[$0].size > ones[$1].size }) where index != others && !fits {
      size -= ones[index].size + ones[others].size
      ones[others].merge(ones[index].counts)
      ones[index].empty()
      size += ones[others].size
      merged.insert(ObjectIdentifier(ones[index].subject))
    }
    return others
  }

  /// The largest number of bytes that each subject may take, so that all together take no more than `room`.
  private static func share(of room: Int, _ sizes: [Int]) -> Int {
    var (left, count) = (room, sizes.count)
    for size in sizes.sorted() {
      let share = left / count
      if size > share { return share }
      (left, count) = (left - size, count - 1)
    }
    return .max
  }
}
