/// The settings of the audit log.
package struct AuditSettings: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable {
    case off, on
    /// Nothing is answered before its entry is on the disk, and nothing where it cannot be written.
    case required
  }

  package var mode = Mode.on
  /// The size in bytes from which on the oldest entries are taken out.
  package var size: Int64 = 64 << 20
  /// The age in seconds at which entries are taken out; nil for never.
  package var age: Int64? = 365 * 86_400

  package init() {}

  package static let sizes: ClosedRange<Int64> = 1 << 20...16 << 30

  /// As the log itself records it.
  var text: String { "audit \(mode.rawValue), size \(size), age \(age.map { "\($0)" } ?? "off")" }
}
