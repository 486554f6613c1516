internal import VaultModel

/// Counts of the events of one subject beyond its parts of the audit log, by item, with the time of the last.
///
/// The kinds that are told apart are few; what is of none of them is counted without its item.
struct AuditCounts {
  /// The most items and outcomes that are told apart at a time, by the part that they are beyond.
  private static func most(_ part: AuditPart) -> Int {
    switch part {
    case .values: 512
    case .rights, .calls: 128
    case .counts: 0
    }
  }

  /// The things that are counted together.
  struct Kind: Hashable {
    let action: AuditAction
    let outcome: AuditOutcome
    let door: String?
    let uid: UInt32
    /// Nil for the items that are not told apart.
    var item: String?
  }

  struct Count {
    var count: UInt32
    /// The time of the last one, Unix seconds.
    var last: Int64
  }

  private var kinds: [Kind: Count] = [:]
  private var sizes = InlineArray<4, Int>(repeating: 0)
  /// The seconds within which one of a sort is told at once.
  private static let interval: Int64 = 3600
  /// The times at which something was told at once, Unix seconds, by action and outcome.
  private var told: [Int: Int64] = [:]

  var isEmpty: Bool { kinds.isEmpty }

  /// Takes note that something is beyond its part; true for the first one within an hour, which is told at once.
  mutating func isFirst(_ action: AuditAction, _ outcome: AuditOutcome, at time: Int64) -> Bool {
    let sort = Int(action.rawValue) << 8 | Int(outcome.rawValue)
    if let last = told[sort], time >= last, time - last < Self.interval { return false }
    told[sort] = time
    return true
  }

  /// Counts one.
  ///
  /// - Parameter hasRoom: false where no more kinds can be told apart in all.
  /// - Returns: true when that is one more item that is told apart.
  mutating func count(_ kind: Kind, beyond part: AuditPart, at time: Int64, hasRoom: Bool) -> Bool {
    if add(1, to: kind, at: time) { return false }
    var kind = kind
    if kind.item != nil {
      if hasRoom, sizes[part.rawValue] < Self.most(part) {
        sizes[part.rawValue] += 1
      } else {
        kind.item = nil
        if add(1, to: kind, at: time) { return false }
      }
    }
    kinds[kind] = Count(count: 1, last: time)
    return kind.item != nil
  }

  /// Counts on without the names of items.
  mutating func forgetNames() {
    for (kind, count) in kinds where kind.item != nil {
      kinds[kind] = nil
      addNameless(kind, count)
    }
  }

  /// Adds a count without its item.
  mutating func addNameless(_ kind: Kind, _ count: Count) {
    var kind = kind
    kind.item = nil
    if !add(count.count, to: kind, at: count.last) { kinds[kind] = count }
  }

  /// Adds to a kind that is known; false where it is none.
  private mutating func add(_ count: UInt32, to kind: Kind, at time: Int64) -> Bool {
    guard let known = kinds[kind] else { return false }
    kinds[kind] = Count(count: known.count &+ min(count, .max - known.count), last: max(known.last, time))
    return true
  }

  /// All that was counted, in an order, and nothing is counted any more.
  mutating func take() -> [(kind: Kind, count: Count)] {
    defer { (kinds, sizes) = ([:], InlineArray(repeating: 0)) }
    return kinds.map { ($0.key, $0.value) }.sorted { ($0.count.last, $0.kind.order) < ($1.count.last, $1.kind.order) }
  }
}

extension AuditCounts.Kind {
  fileprivate var order: String { "\(action.rawValue) \(outcome.rawValue) \(uid) \(item ?? "")" }
}
