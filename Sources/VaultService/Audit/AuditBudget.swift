internal import VaultCore

/// The bytes that a subject has used of its parts of the audit log. A part is free again after ``period``, little by
/// little.
struct AuditBudget: Equatable {
  /// The subjects that fill the log together, each of whom has as large a share.
  private static let subjects: Int64 = 16
  /// The nanoseconds in which a part that is used up becomes free, whatever the age at which entries go.
  static let period: Int64 = 7 * 86_400 * 1_000_000_000

  private var used = InlineArray<3, Double>(repeating: 0)
  /// The time at which that was so, `CLOCK_BOOTTIME` nanoseconds.
  private var time: Int64 = .min

  init() {}

  /// The use before this process, as it was kept, and as it is now. Earlier programs kept that of counts apart.
  init(_ bytes: AuditUsage.Used, now: Int64) {
    for index in used.indices { used[index] = Double(bytes[index]) }
    time = now
  }

  /// The present use, to be kept.
  func bytes(_ size: Int64, now: Int64) -> AuditUsage.Used {
    var free = self
    free.refill(size, now)
    var bytes = AuditUsage.Used(repeating: 0, count: AuditUsage.parts)
    for index in free.used.indices { bytes[index] = UInt32(clamping: Int64(free.used[index].rounded(.up))) }
    return bytes
  }

  /// Takes bytes of a part; false when that is used up.
  ///
  /// - Parameters:
  ///   - size: that of the whole log.
  ///   - now: `CLOCK_BOOTTIME` nanoseconds.
  mutating func take(_ bytes: Int, of part: AuditPart, for use: AuditPart.Use, _ size: Int64, now: Int64) -> Bool {
    if now != time { refill(size, now) }
    let after = used[part.rawValue] + Double(bytes)
    guard after <= Self.whole(part, size) * Double(use.quarters) / 4 else { return false }
    used[part.rawValue] = after
    return true
  }

  /// Takes note of bytes that are in the log already.
  mutating func charge(_ bytes: Int, to part: AuditPart, now: Int64) {
    if time == .min { time = now }
    used[part.rawValue] += Double(bytes)
  }

  /// Adds what another one has used, which is of the same subject.
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
        // Far more than the part is can be used where the log was to be longer before.
        used[part.rawValue] = max(0, min(used[part.rawValue], 2 * whole) - passed * whole)
      }
    }
    time = now
  }

  /// The bytes of a part.
  static func whole(_ part: AuditPart, _ size: Int64) -> Double { Double(size / subjects * part.quarters / 4) }

  static func == (left: AuditBudget, right: AuditBudget) -> Bool {
    left.time == right.time && left.used.indices.allSatisfy { left.used[$0] == right.used[$0] }
  }
}
