import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("An entry within the limits of replies") struct ReplyLimitsTests {
  /// True if `vault` reads the facts of an entry.
  private func isRead(_ entry: ImportedEntry) -> Bool { isRead(ImportReply.entry(entry).frame()) }

  /// True if `vault` reads a field.
  private func isRead(_ field: Field) -> Bool {
    let value = SecretBuffer(copying: unsafe field.value.span.bytes)
    return isRead(ImportReply.field(field.facts, value: value).frame())
  }

  private func isRead(_ frame: borrowing SecretBuffer) -> Bool {
    guard frame.count <= ImportReply.frameLimit else { return false }
    // The last byte is the NUL.
    let text = frame.withBytes { bytes in try? Frame(parsing: bytes.extracting(droppingLast: 1)) }
    guard let text else { return false }
    switch ImportReply(text) {
    case .some: return true
    case .none: return false
    }
  }

  @Test("a value of 1 MiB is sent, and a byte more is refused with its size") func values() {
    var entry = Entry(.login, title: "a")
    entry.fields.append(Field("fits", .attachment, [UInt8](repeating: 0, count: 1 << 20), mediaType: "a/b"))
    entry.fields.append(Field("large", .attachment, [UInt8](repeating: 0, count: 1 << 20 + 1)))
    let fields = entry.fittingFields
    #expect(fields.count == 3)
    #expect(fields[1].value.count == 1 << 20 && fields[1].refusal == nil && fields[1].mediaType == "a/b")
    #expect(fields[2].value.isEmpty && fields[2].size == 1 << 20 + 1)
    #expect(fields[2].refusal == "it has 1048577 bytes, and an item has room for 1 MiB")
  }

  @Test("a refused field brings no value") func refused() {
    var entry = Entry(.login, title: "a")
    entry.fields.append(Field("b", .secret, [1, 2], size: 7, refusal: "no"))
    let field = entry.fittingFields[1]
    #expect(field.value.isEmpty && field.facts == ImportedField("b", .secret, size: 7, refusal: "no"))
  }

  @Test("of too many fields the last one stands for the rest, with their size") func many() throws {
    var entry = Entry(.login, title: "a")
    for number in 1..<4096 { entry.add("\(number)", .text, "ab") }
    #expect(entry.fittingFields.count == 4096 && entry.fittingFields[4095].name == "4095")
    entry.add("4096", .text, "ab")
    entry.fields.append(Field("4097", .text, [], size: .max, refusal: "too large"))
    let fields = entry.fittingFields
    #expect(fields.count == 4096 && fields[4094].name == "4094")
    let last = try #require(fields.last)
    #expect(last.name == "3 more fields" && last.size == .max)
    #expect(last.refusal == "an entry has room for 4096 fields")
    #expect(isRead(entry.facts(fields: fields.count)))
  }

  @Test(
    "long names are cut between characters, and the entry still reads back", arguments: ["é", "€", "\u{1}", "🔑"])
  func names(character: String) {
    let long = "a" + String(repeating: character, count: 20_000)
    var entry = Entry(.login, id: "id", folder: Array(repeating: long, count: 100), title: long)
    entry.fields.append(Field(long, .text, [1], mediaType: long, refusal: long))
    let facts = entry.facts(fields: 1)
    for (text, most) in [(facts.title, 16 << 10), (facts.folder[0], 4096), (facts.folder[63], 4096)] {
      #expect(long.hasPrefix(text) && (most - 3...most).contains(text.utf8.count))
    }
    #expect(facts.folder.count == 64 && facts.id == "id")
    #expect(isRead(facts))
    for field in entry.fittingFields.dropFirst(2) {
      #expect(isRead(field))
      #expect(field.name.utf8.count <= 4096 && field.mediaType == nil)
    }
  }

  @Test("the folders that are too deep are one") func deep() {
    let names = (1...70).map { "\($0)" }
    let facts = Entry(.login, folder: names, title: "a").facts(fields: 1)
    #expect(facts.folder.count == 64 && facts.folder[62] == "63" && facts.folder[63] == "64/65/66/67/68/69/70")
  }

  @Test("an identification that is too long is left out, because its beginning could be another's")
  func identification() {
    let long = String(repeating: "a", count: 16 << 10)
    #expect(Entry(.login, id: long, title: "a").facts(fields: 1).id == long)
    #expect(Entry(.login, id: long + "b", title: "a").facts(fields: 1).id == "")
  }
}
