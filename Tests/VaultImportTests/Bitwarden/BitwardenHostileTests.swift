import Testing
import VaultWire

@testable import VaultImport

@Suite struct BitwardenHostileTests {
  @Test("Every truncation of a plain export is an error")
  func refusesTruncations() throws {
    let bytes = try ExportStand.file("bitwarden-organization.json")
    for count in 0..<bytes.count {
      #expect(ExportStand.failure(Array(bytes.prefix(count)))?.code == .damaged)
    }
  }

  @Test("A flipped bit gives entries or an error")
  func survivesFlippedBits() throws {
    let bytes = try ExportStand.file("bitwarden-organization.json")
    for place in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[place] ^= 1 << bit
        _ = ExportStand.recognizes(changed)
        _ = ExportStand.failure(changed)
      }
    }
  }

  @Test(
    "Other JSON is not taken for an export",
    arguments: [
      "", "{", "[]", "{}", #"{"items":[]}"#, #"{"items":[{"type":1,"name":"x"}]}"#, #"{"encrypted":"yes","items":[]}"#,
      #"{"encrypted":false,"userId":"u","vaults":{},"version":"1"}"#, #"{"version":1,"header":{},"db":{}}"#,
      "name,url,username,password\n",
    ])
  func knowsOthers(_ text: String) { #expect(!ExportStand.recognizes(Array(text.utf8))) }

  @Test("Exports are recognized, also old ones without a mark, and those behind a byte order mark")
  func recognizes() throws {
    for name in ["plain", "organization", "account", "pbkdf2", "argon2id"] {
      let bytes = try ExportStand.file("bitwarden-\(name).json")
      #expect(ExportStand.recognizes(bytes))
      #expect(ExportStand.recognizes([0xEF, 0xBB, 0xBF] + bytes))
    }
    #expect(ExportStand.recognizes(Array(#"{"folders":[],"items":[{"type":1,"name":"x","folderId":null}]}"#.utf8)))
  }

  @Test("An export without items, and an item that is none, are errors")
  func refusesOddItems() {
    for text in [#"{"encrypted":false}"#, ExportStand.export("").replacing("{}", with: "5"), #"{"items":{}}"#, "[]"] {
      #expect(ExportStand.failure(Array(text.utf8))?.code == .damaged)
    }
  }

  @Test("A large item, deep nesting and too many folders are errors")
  func limitsSizes() {
    let deep = String(repeating: "[", count: 1 << 20)
    #expect(ExportStand.failure(Array(#"{"items":\#(deep)"#.utf8))?.code == .tooLarge)
    let wide = String(repeating: "0,", count: 1 << 19)
    #expect(ExportStand.failure(Array(ExportStand.export(#""a":[\#(wide)0]"#).utf8))?.code == .tooLarge)
    let folders = (0...100_000).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
    #expect(ExportStand.failure(Array(ExportStand.export("", folders: "[\(folders)]").utf8))?.code == .tooLarge)
  }

  @Test("Folders nest by slashes, and several files are an error")
  func readsFolders() throws {
    let folders = #"[{"id":"f","name":"/a//b\/c/"},{"id":"g","name":null},null]"#
    let gathered = try ExportStand.read(ExportStand.export(#""type":2,"folderId":"f""#, folders: folders))
    #expect(gathered.entries.first?.folder == ["a", "b", "c"])
    let bytes = Array(ExportStand.export(#""type":2"#).utf8)
    let files = [Source.File("a", bytes), Source.File("b", bytes)]
    #expect(throws: ImportFailure.self) { try ReadEntries(BitwardenReader.self, files) }
    #expect(!BitwardenReader.recognizes(Source(files) { _ in nil }))
  }
}
