internal import VaultCore
internal import VaultModel

/// Counts of the events of one subject beyond its parts of the audit log, by item, with the time of the last.
///
/// A count stays until it is written down. The kinds that are told apart are few; what is of none of them is counted
/// without its item, and beyond some users without its user.
struct AuditCounts {
  /// The most kinds with an item that are told apart at a time, by the part that they are beyond.
  private static func most(_ part: AuditPart) -> Int {
    switch part {
    case .values: 512
    case .rights, .calls: 128
    }
  }
  /// The kinds with an item that are told apart in any case, however many others have.
  private static let reserved = 64
  /// The bytes of an entry of a count beside its texts and its caller.
  private static let entrySize = 24
  /// The most users that are told apart.
  private static let mostUsers = 16

  /// The things that are counted together.
  struct Kind: Hashable {
    let action: AuditAction
    let outcome: AuditOutcome
    let door: String?
    /// ``AuditEntry/Caller/others`` for the users that are not told apart.
    var uid: UInt32
    /// Nil for the items that are not told apart.
    var item: String?
    /// The item that had this name; see ``AuditEntry/id``. Another one that gets the name is counted apart.
    var id: ItemID?
    /// More of what was asked, of a change of rights alone: the item has whose rights these are.
    var detail: String?

    /// True when it names something.
    var isNamed: Bool { item != nil || detail != nil }

    /// The bytes that an entry of it takes beside its caller.
    var size: Int {
      AuditCounts.entrySize + (item?.utf8.count ?? 0) + (detail?.utf8.count ?? 0)
        + (id == nil ? 0 : AuditBlock.itemSize)
    }

    /// Leaves out what it names.
    mutating func forgetNames() { (item, id, detail) = (nil, nil, nil) }
  }

  struct Count {
    var count: UInt32
    /// The time of the last one, Unix seconds.
    var last: Int64
  }

  private var kinds = Array(repeating: [Kind: Count](), count: AuditPart.allCases.count)
  private var names = InlineArray<3, Int>(repeating: 0)
  /// The users that are told apart.
  private(set) var users: Set<UInt32> = []
  /// The seconds within which one of a sort is told at once.
  private static let interval: Int64 = 3600
  /// The times at which something was told at once, Unix seconds, by action and outcome.
  private var told: [Int: Int64] = [:]

  var isEmpty: Bool { kinds.allSatisfy(\.isEmpty) }

  /// The number of kinds that name something.
  var named: Int { AuditPart.allCases.reduce(0) { $0 + named($1) } }

  /// The same of those beyond a part.
  func named(_ part: AuditPart) -> Int { names[part.rawValue] }

  /// Takes note that something is beyond its part; true for the first one within an hour, which is told at once.
  mutating func isFirst(_ action: AuditAction, _ outcome: AuditOutcome, at time: Int64) -> Bool {
    let sort = Int(action.rawValue) << 8 | Int(outcome.rawValue)
    if let last = told[sort], time >= last, time - last < Self.interval { return false }
    told[sort] = time
    return true
  }

  /// Counts one.
  ///
  /// - Parameter hasRoom: false where others have as many kinds as are told apart in all.
  /// - Returns: the kind that it is counted as, and whether nothing was counted of that before.
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

  /// True when something is counted of a kind.
  func has(_ kind: Kind, _ part: AuditPart) -> Bool { kinds[part.rawValue][kind] != nil }

  /// Adds to what is counted; true where nothing was counted of that kind.
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

  /// The counts of what is beyond a part, the oldest first.
  func untold(_ part: AuditPart) -> [(kind: Kind, count: Count)] {
    kinds[part.rawValue].map { ($0.key, $0.value) }.sorted {
      if $0.count.last != $1.count.last { return $0.count.last < $1.count.last }
      return ($0.kind.item ?? "", $0.kind.uid, $0.kind.action.rawValue, $0.kind.outcome.rawValue)
        < ($1.kind.item ?? "", $1.kind.uid, $1.kind.action.rawValue, $1.kind.outcome.rawValue)
    }
  }

  /// Entries of the counts of several subjects: changes of rights before values, and these before the rest.
  static func entries(of counts: [(subject: AuditSubject, counts: AuditCounts)]) -> [AuditEntry] {
    AuditPart.allCases.flatMap { part in
      counts.flatMap { subject, counts in counts.untold(part).map { $0.entry($1, of: subject) } }
    }
  }

  /// True when something is counted beyond a part.
  func has(_ part: AuditPart) -> Bool { !kinds[part.rawValue].isEmpty }

  func eachKind(_ body: (Kind) -> Void) { for kinds in kinds { kinds.keys.forEach(body) } }

  /// Takes note that a count was written down.
  mutating func haveTold(_ kind: Kind, _ part: AuditPart) {
    guard kinds[part.rawValue].removeValue(forKey: kind) != nil else { return }
    if kind.isNamed { names[part.rawValue] -= 1 }
    if isEmpty { users = [] }
  }

  /// Forgets everything, which was written down.
  mutating func haveToldAll() {
    (names, users) = (InlineArray(repeating: 0), [])
    kinds = kinds.map { _ in [:] }
  }

  /// Counts on without names, of which the longest go first.
  ///
  /// - Parameter bytes: the bytes that entries are to take less: other names stay.
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

  /// Counts on without users.
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
  /// The number that stands for users that are not told apart: it is none that a user can have.
  static let others = UInt32.max
}
