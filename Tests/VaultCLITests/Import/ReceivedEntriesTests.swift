import Testing
import VaultBytes
import VaultWire

@testable import VaultCLI

@Suite("The entries that come from vault-import") struct ReceivedEntriesTests {
  private static let format = ImportedFormat(name: "csv", detail: "a CSV")

  private static func entry(_ count: Int) -> ImportedEntry {
    ImportedEntry(.login, id: "", folder: [], title: "t", isTrashed: false, fieldCount: count)
  }

  private static func field(_ size: Int, refusal: String? = nil) -> ImportedField {
    ImportedField("f", .password, size: size, refusal: refusal)
  }

  @Test("are taken in their order") func inOrder() throws {
    var received = ReceivedEntries()
    try received.take(Self.format)
    try received.take(Self.entry(2))
    try received.take(Self.field(1), PlannedSource.buffer([1]))
    try received.take(Self.field(5 << 20, refusal: "too large"), PlannedSource.buffer([]))
    try received.take(Self.entry(0))
    #expect(try received.finish(ImportTotals(entries: 2, fields: 2)) == Self.format)
    #expect(throws: ImportProgram.wrong) { try received.finish(ImportTotals(entries: 2, fields: 1)) }
    #expect(throws: ImportProgram.wrong) { try received.finish(ImportTotals(entries: 1, fields: 2)) }
  }

  @Test("are refused in another order, and with sizes that do not agree") func wrong() throws {
    var early = ReceivedEntries()
    #expect(throws: ImportProgram.wrong) { try early.take(Self.entry(0)) }
    #expect(throws: ImportProgram.wrong) { try early.finish(ImportTotals()) }
    var received = ReceivedEntries()
    try received.take(Self.format)
    #expect(throws: ImportProgram.wrong) { try received.take(Self.format) }
    #expect(throws: ImportProgram.wrong) { try received.take(Self.field(1), PlannedSource.buffer([1])) }
    try received.take(Self.entry(1))
    #expect(throws: ImportProgram.wrong) { try received.take(Self.entry(0)) }
    #expect(throws: ImportProgram.wrong) { try received.take(Self.field(2), PlannedSource.buffer([1])) }
    #expect(throws: ImportProgram.wrong) { try received.take(Self.field(1, refusal: "no"), PlannedSource.buffer([1])) }
    #expect(throws: ImportProgram.wrong) { try received.finish(ImportTotals(entries: 1, fields: 0)) }
  }

  @Test("have a format whose name is a word", arguments: ["", "CSV", "a b", "a\n", String(repeating: "a", count: 65)])
  func names(name: String) {
    var received = ReceivedEntries()
    #expect(throws: ImportProgram.wrong) { try received.take(ImportedFormat(name: name, detail: "")) }
  }
}
