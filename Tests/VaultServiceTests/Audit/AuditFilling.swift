import VaultCore
import VaultModel

@testable import VaultService

/// Makes stands in which a part of the audit log fills soon, and fills it.
enum AuditFilling {
  static func small(_ mode: AuditSettings.Mode = .on) -> VaultSettings {
    var settings = VaultSettings()
    (settings.audit.size, settings.audit.mode) = (1 << 20, mode)
    return settings
  }

  static let long = String(repeating: "x", count: 400)

  /// Makes a machine's vault in which a service may read two items.
  static func serving(_ settings: VaultSettings, accessible: AccessClass = .whenUnlocked) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings, system: true)
    for name in ["svc/a", "svc/b"] { try stand.set(name, accessible: accessible) }
    try give(stand, "user:990", "svc/*")
    return stand
  }

  static func give(_ stand: RoomStand, _ subject: String, _ pattern: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: "get"), until: nil,
      for: stand.administrator)
  }

  /// Fills one part of a subject in the log.
  static func fill(_ stand: RoomStand, _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller) {
    for number in 0..<200 {
      stand.vault.audit.record(action, outcome, caller, item: "svc/a", detail: "\(number) \(long)")
    }
  }

  /// Returns, by item, the number of times that this action had this outcome, according to the log.
  static func times(
    _ stand: RoomStand, _ action: AuditAction, _ outcome: AuditOutcome, by uid: UInt32
  ) throws -> [String: Int] {
    var filter = AuditFilter()
    filter.action = action
    var times: [String: Int] = [:]
    for entry in try AuditTests.found(stand, filter) where entry.caller?.uid == uid && entry.outcome == outcome {
      times[entry.item ?? "", default: 0] += Int(entry.repeats?.count ?? 1)
    }
    return times
  }
}
