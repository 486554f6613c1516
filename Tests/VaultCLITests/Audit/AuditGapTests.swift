import Testing
import VaultWire

@testable import VaultCLI

@Suite("The note that the audit log was off for a time") struct AuditGapTests {
  /// The log's entry about a change of its settings.
  private static func entry(_ time: Int64, _ mode: String, before: String) -> Wire.AuditEntry {
    Wire.AuditEntry(
      number: 1, time: time, action: "audit", outcome: "ok", item: "audit \(mode), size 1048576",
      detail: "before: audit \(before), size 2097152")
  }

  private static let (off, on) = (entry(10, "off", before: "on"), entry(20, "on", before: "off"))

  @Test("what was so before the time that is asked about is known by the last change before it") func since() {
    for (entries, since, wasOff) in [
      // It was on again before.
      ([Self.off, Self.on], 100, false), ([Self.off, Self.on], 21, false),
      // It was off before, and nothing says since when it is on.
      ([Self.entry(5, "on", before: "required"), Self.off], 100, true),
      ([Self.off, Self.on, Self.entry(30, "required", before: "off")], 100, false),
      ([Self.off, Self.on, Self.entry(30, "off", before: "on")], 100, true),
      // It was turned on in that very second, or later.
      ([Self.off, Self.on], 20, true), ([Self.off, Self.on], 15, true), ([Self.on], 15, true),
      // It was turned off in that very second, or later.
      ([Self.off], 10, true), ([Self.off], 5, true),
      // It was on all the time.
      ([Self.entry(10, "on", before: "required"), Self.entry(20, "required", before: "on")], 15, false),
      ([], 15, false),
    ] as [([Wire.AuditEntry], Int64, Bool)] {
      #expect(AuditGap.wasOff(entries, since: since) == wasOff, "\(entries.map(\.time)) since \(since)")
    }
  }

  @Test("without a time, every change counts") func always() {
    for entries in [[Self.off], [Self.on], [Self.off, Self.on]] { #expect(AuditGap.wasOff(entries, since: nil)) }
    #expect(!AuditGap.wasOff([Self.entry(10, "on", before: "required")], since: nil))
    #expect(!AuditGap.wasOff([], since: nil))
  }
}
