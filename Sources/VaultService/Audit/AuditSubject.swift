internal import VaultModel

/// A subject as the audit log knows it: the part of the log that it may still fill, and what is counted of its gets.
///
/// A part fills up again in the time after which entries are taken out.
final class AuditSubject {
  /// The number of parts of the log.
  private static let parts: Int64 = 16
  /// The bytes that an entry takes beside its texts, and what is counted after it, roughly.
  private static let entrySize = 48

  /// The subject, as grants name it.
  let name: String
  var repeats = AuditRepeats()
  /// The bytes that are left of its part, and the time at which they were; nil for all of it.
  private var left: (bytes: Double, time: Int64)?

  init(_ name: String) { self.name = name }

  /// Takes an entry of its part; false when that is used up.
  ///
  /// - Parameters:
  ///   - bytes: the size of its texts, and of what has to be written before it.
  ///   - now: `CLOCK_BOOTTIME` nanoseconds.
  func take(_ bytes: Int, _ settings: AuditSettings, now: Int64) -> Bool {
    let size = Double(Self.entrySize + bytes)
    let whole = Double(settings.size / Self.parts)
    var free = left?.bytes ?? whole
    if let age = settings.age, let time = left?.time { free += whole * Double(now - time) / (Double(age) * 1e9) }
    free = min(whole, free)
    let isEnough = free >= size
    left = (isEnough ? free - size : free, now)
    return isEnough
  }
}

/// What the audit log keeps of a caller for as long as it is connected.
struct AuditMemory {
  /// The subject that it is when it has any right.
  var subject: AuditSubject?
  /// What the entries of a second tell of it, and the time of the first of them, `CLOCK_BOOTTIME` nanoseconds.
  var told: (time: Int64, caller: AuditEntry.Caller)?
  /// Its place among the callers of a filling of the block.
  var place: (filling: Int, place: UInt16)?
}
