/// The settings of the audit log.
package struct AuditSettings: Sendable, Equatable {
  package enum Mode: String, Sendable, CaseIterable {
    case off, on
    /// A call is answered only after its entry is on the disk. While no entry can be written, only the calls that
    /// ``CallTerms/Need`` exempts are answered.
    case required
  }

  package var mode = Mode.on
  /// The size in bytes above which the oldest entries are removed.
  package var size: Int64 = 64 << 20
  /// The age in seconds at which entries are removed; nil for never.
  package var age: Int64? = 365 * 86_400

  package init() {}

  package static let sizes: ClosedRange<Int64> = 1 << 20...16 << 30

  /// The settings in the words of the log's own entries.
  var text: String { "audit \(mode.rawValue), size \(size), age \(age.map { "\($0)" } ?? "off")" }

  /// True when a text is that of settings with the log off.
  static func areOff(_ text: some StringProtocol) -> Bool { text.hasPrefix("audit \(Mode.off.rawValue),") }

  /// The text of the settings before a change, from the detail of the entry about the change; nil for other details.
  static func before(_ detail: String) -> Substring? {
    let start = "before: "
    return detail.hasPrefix(start) ? detail.dropFirst(start.count) : nil
  }
}
