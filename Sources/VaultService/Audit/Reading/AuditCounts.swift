internal import VaultCore
internal import VaultModel

/// The counts of one subject's events beyond its parts of the audit log, by item, with the time of the last event.
///
/// A count stays until it is written. The number of separate kinds is limited: an event of a further kind is counted
/// without its item and, beyond a number of users, without its user.
struct AuditCounts {
  /// The most separate kinds with an item, by the part that they are beyond.
  private static func most(_ part: AuditPart) -> Int {
    switch part {
    case .values: 512
    case .rights, .calls: 128
    }
  }
  /// The number of separate kinds with an item that a subject has in any case, however many the other subjects have.
  private static let reserved = 64
  /// The bytes of a count's entry without its texts and its caller.
  private static let entrySize = 24
  /// The most separate users.
  private static let mostUsers = 16

  /// The properties by which events are counted together.
  struct Kind: Hashable {
    let action: AuditAction
    let outcome: AuditOutcome
    let door: String?
    /// The uid; ``AuditEntry/Caller/others`` for users beyond the limit.
    var uid: UInt32
    /// The name of the item; nil for items beyond the limit.
    var item: String?
    /// The item that had this name; see ``AuditEntry/id``. Another item that gets the name is counted separately.
    var id: ItemID?
    /// More words about a change of rights, whose `item` is the subject of these rights; nil for other events.
    var detail: String?

    /// True when the kind contains a name.
    var isNamed: Bool { item != nil || detail != nil }

    /// The bytes of the kind's entry without its caller.
    var size: Int {
      AuditCounts.entrySize + (item?.utf8.count ?? 0) + (detail?.utf8.count ?? 0)
        + (id == nil ? 0 : AuditBlock.itemSize)
    }

    /// Removes the names.
    mutating func forgetNames() { (item, id, detail) = (nil, nil, nil) }
  }

  struct Count {
    var count: UInt32
    /// The time of the last event, in Unix seconds.
    var last: Int64
  }

  private var kinds = Array(repeating: [Kind: Count](), count: AuditPart.allCases.count)
  private var names = InlineArray<3, Int>(repeating: 0)
  /// The users that are counted separately.
  private(set) var users: Set<UInt32> = []
  /// The seconds within which only one event of a sort has an entry at once.
  private static let interval: Int64 = 3600
  /// The times at which an event had an entry at once, in Unix seconds, by action and outcome.
  private var told: [Int: Int64] = [:]

  var isEmpty: Bool { kinds.allSatisfy(\.isEmpty) }

  /// The number of kinds with names.
  var named: Int { AuditPart.allCases.reduce(0) { $0 + named($1) } }

  /// The number of kinds with names beyond a part.
  func named(_ part: AuditPart) -> Int { names[part.rawValue] }

  /// Notes an event beyond its part; true for the first one of its sort within an hour, which has an entry at once.
  mutating func isFirst(_ action: AuditAction, _ outcome: AuditOutcome, at time: Int64) -> Bool {
    let sort = Int(action.rawValue) << 8 | Int(outcome.rawValue)
    if let last = told[sort], time >= last, time - last < Self.interval { return false }
    told[sort] = time
    return true
  }

  /// Counts an event.
  ///
  /// - Parameter hasRoom: false if all subjects together have as many kinds as may be separate.
  /// - Returns: the kind under which the event was counted, and whether nothing of that kind was counted before.
  mutating func count(
    _ kind: Kind, beyond part: AuditPart, at time: Int64, hasRoom: Bool
  ) -> (kind: Kind, isNew: Bool) {
    var kind = kind
    if !users.contains(kind.uid) {
      if users.count < Self.mostUsers { users.insert(kind.uid) } else { kind.uid = AuditEntry.Caller.others }
    }
    let one = Count(count: 1, last: time)
    if kind.isNamed, kinds[part.rawValue][kind] == nil,
      names[part.rawValue] >= (hasRoom ? Self.most(part) : Self.reserved)
    {
      kind.forgetNames()
    }
    return (kind, add(one, to: kind, part))
  }

  /// True when there is a count of a kind.
  func has(_ kind: Kind, _ part: AuditPart) -> Bool { kinds[part.rawValue][kind] != nil }

  /// Adds to the count of a kind; true if there was none before.
  @discardableResult
  mutating func add(_ more: Count, to kind: Kind, _ part: AuditPart) -> Bool {
    guard let known = kinds[part.rawValue][kind] else {
      kinds[part.rawValue][kind] = more
      if kind.isNamed { names[part.rawValue] += 1 }
      return true
    }
    kinds[part.rawValue][kind] = Count(
      count: known.count &+ min(more.count, .max - known.count), last: max(known.last, more.last))
    return false
  }

  /// The counts of events beyond a part, the oldest first.
  func untold(_ part: AuditPart) -> [(kind: Kind, count: Count)] {
    kinds[part.rawValue].map { ($0.key, $0.value) }.sorted {
      if $0.count.last != $1.count.last { return $0.count.last < $1.count.last }
      return ($0.kind.item ?? "", $0.kind.uid, $0.kind.action.rawValue, $0.kind.outcome.rawValue)
        < ($1.kind.item ?? "", $1.kind.uid, $1.kind.action.rawValue, $1.kind.outcome.rawValue)
    }
  }

  /// The entries for the counts of several subjects: first changes of rights, then values, then the rest.
  static func entries(of counts: [(subject: AuditSubject, counts: AuditCounts)]) -> [AuditEntry] {
    AuditPart.allCases.flatMap { part in
      counts.flatMap { subject, counts in counts.untold(part).map { $0.entry($1, of: subject) } }
    }
  }

  /// True when there are counts beyond a part.
  func has(_ part: AuditPart) -> Bool { !kinds[part.rawValue].isEmpty }

  func eachKind(_ body: (Kind) -> Void) { for kinds in kinds { kinds.keys.forEach(body) } }

  /// Removes a count that was written.
  mutating func haveTold(_ kind: Kind, _ part: AuditPart) {
    guard kinds[part.rawValue].removeValue(forKey: kind) != nil else { return }
    if kind.isNamed { names[part.rawValue] -= 1 }
    if isEmpty { users = [] }
  }

  /// Removes all counts, because they were written.
  mutating func haveToldAll() {
    (names, users) = (InlineArray(repeating: 0), [])
    kinds = kinds.map { _ in [:] }
  }

  /// Merges counts with names into counts without names, the longest names first.
  ///
  /// - Parameter bytes: the number of bytes by which the entries must become shorter; other names stay.
  mutating func forgetNames(_ part: AuditPart, freeing bytes: Int = .max) {
    var left = bytes
    let named = kinds[part.rawValue].filter(\.key.isNamed).sorted {
      ($1.key.size, $0.key.item ?? "", $0.key.uid) < ($0.key.size, $1.key.item ?? "", $1.key.uid)
    }
    for (kind, count) in named {
      guard left > 0 else { return }
      kinds[part.rawValue][kind] = nil
      names[part.rawValue] -= 1
      left -= kind.size
      var unnamed = kind
      unnamed.forgetNames()
      if add(count, to: unnamed, part) { left += unnamed.size }
    }
  }

  /// Merges the counts of separate users.
  mutating func forgetUsers() {
    for part in AuditPart.allCases {
      let before = kinds[part.rawValue]
      (kinds[part.rawValue], names[part.rawValue]) = ([:], 0)
      for (kind, count) in before {
        var kind = kind
        if kind.door != nil { kind.uid = AuditEntry.Caller.others }
        add(count, to: kind, part)
      }
    }
    users = [AuditEntry.Caller.others]
  }
}

extension AuditEntry.Caller {
  /// The uid that stands for users beyond the limit; no user can have it.
  static let others = UInt32.max
}
