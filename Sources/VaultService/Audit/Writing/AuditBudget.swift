internal import VaultCore

/// The bytes that a subject has used of its parts of the audit log. A full part becomes free again gradually, within
/// ``period``.
struct AuditBudget: Equatable {
  /// The number of subjects that can fill the log together; each has an equal share.
  private static let subjects: Int64 = 16
  /// The nanoseconds in which a full part becomes free, whatever the age at which entries are removed.
  static let period: Int64 = 7 * 86_400 * 1_000_000_000

  private var used = InlineArray<3, Double>(repeating: 0)
  /// The time of these numbers, in `CLOCK_BOOTTIME` nanoseconds.
  private var time: Int64 = .min

  init() {}

  /// Creates the budget from the usage that an earlier process stored. Earlier versions of the program stored the usage
  /// of counts separately; that number is not read.
  ///
  /// - Parameter now: the time of the usage, in `CLOCK_BOOTTIME` nanoseconds.
  init(_ bytes: AuditUsage.Used, now: Int64) {
    for index in used.indices { used[index] = Double(bytes[index]) }
    time = now
  }

  /// The present usage, to be stored.
  func bytes(_ size: Int64, now: Int64) -> AuditUsage.Used {
    var free = self
    free.refill(size, now)
    var bytes = AuditUsage.Used(repeating: 0, count: AuditUsage.parts)
    for index in free.used.indices { bytes[index] = UInt32(clamping: Int64(free.used[index].rounded(.up))) }
    return bytes
  }

  /// Takes bytes of a part; false if the part is full.
  ///
  /// - Parameters:
  ///   - size: the size of the whole log in bytes.
  ///   - now: the time in `CLOCK_BOOTTIME` nanoseconds.
  mutating func take(_ bytes: Int, of part: AuditPart, for use: AuditPart.Use, _ size: Int64, now: Int64) -> Bool {
    if now != time { refill(size, now) }
    let after = used[part.rawValue] + Double(bytes)
    guard after <= Self.whole(part, size) * Double(use.quarters) / 4 else { return false }
    used[part.rawValue] = after
    return true
  }

  /// True when a part is fuller than even last counts (``AuditPart/Use/lastCount``) may make it.
  func isOver(_ part: AuditPart, _ size: Int64, now: Int64) -> Bool {
    var free = self
    free.refill(size, now)
    return free.used[part.rawValue] > Self.whole(part, size) * Double(AuditPart.Use.lastCount.quarters) / 4
  }

  /// Counts bytes that are in the log already.
  mutating func charge(_ bytes: Int, to part: AuditPart, now: Int64) {
    if time == .min { time = now }
    used[part.rawValue] += Double(bytes)
  }

  /// Adds the usage in another budget of the same subject.
  mutating func add(_ other: AuditBudget) {
    time = max(time, other.time)
    for index in used.indices { used[index] += other.used[index] }
  }

  private mutating func refill(_ size: Int64, _ now: Int64) {
    guard time == .min || now > time else { return }
    if time != .min {
      let passed = Double(now - time) / Double(Self.period)
      for part in AuditPart.allCases {
        let whole = Self.whole(part, size)
        // The usage can be far more than the part if the log was longer before a change of settings.
        used[part.rawValue] = max(0, min(used[part.rawValue], 2 * whole) - passed * whole)
      }
    }
    time = now
  }

  /// The size of a part in bytes.
  static func whole(_ part: AuditPart, _ size: Int64) -> Double { Double(size / subjects * part.quarters / 4) }

  static func == (left: AuditBudget, right: AuditBudget) -> Bool {
    left.time == right.time && left.used.indices.allSatisfy { left.used[$0] == right.used[$0] }
  }
}
