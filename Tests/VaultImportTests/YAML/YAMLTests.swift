import Testing
import VaultWire

@testable import VaultImport

@Suite("Texts in YAML") struct YAMLTests {
  private func documents(_ text: String) throws(ImportFailure) -> [YAMLNode] {
    try YAMLDocuments.all(Array(text.utf8))
  }

  private func failure(_ text: String) -> ImportFailure? {
    do throws(ImportFailure) {
      _ = try documents(text)
      return nil
    } catch { return error }
  }

  @Test("are scalars, sequences and mappings with their tags, in several documents") func values() throws {
    let all = try documents("a: 1\nb: [x, 'y z', \"\\u00e9\"]\nc: !secret name\n--- |\n line\n---\n~\n")
    #expect(all.count == 3)
    #expect(all[0].members.map(\.name) == ["a", "b", "c"])
    #expect(all[0]["b"]?.elements.map(\.text) == ["x", "y z", "é"])
    #expect(all[0]["c"]?.tag == "!secret" && all[0]["c"]?.text == "name")
    #expect(all[1].text == "line\n" && all[2].isNull)
    #expect(all[0].leaves.map { $0.path.joined(separator: ".") } == ["a", "b.1", "b.2", "b.3", "c"])
    #expect(try documents("").isEmpty && documents("# nothing\n").isEmpty)
  }

  @Test("have the place of each value in bytes, whatever comes before it", arguments: ["", "\u{FEFF}", "# é 🔑\r\n"])
  func places(_ start: String) throws {
    let text = start + "é: plain\nk: 'it''s'  # c\nl: \"ü\"\nm:\n  - 1\n  - 22\nn: [ 3 ]\no: &x last\n"
    let root = try #require(try documents(text).first)
    let bytes = Array(text.utf8)
    let found = root.members.compactMap { member in
      YAMLValuePlace.of(member.value, in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
    }
    #expect(found == ["plain", "'it''s'", "\"ü\"", "- 1\n  - 22", "[ 3 ]", "last"])
  }

  @Test("have aliases, which become what they stand for") func aliases() throws {
    let root = try #require(try documents("a: &x [1, 2]\nb: *x\nc: &y z\nd: *y\n").first)
    #expect(root["b"]?.elements.map(\.text) == ["1", "2"] && root["d"]?.text == "z")
    #expect(root["b"]?.isAlias == true && root["a"]?.isAlias == false)
    #expect(failure("a: *x")?.code == .damaged && failure("a: &x [*x]")?.code == .damaged)
  }

  @Test("of a billion laughs are an error, and so are those that nest too deeply, by themselves or by aliases")
  func bombs() {
    var laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
    var chain = "a0: &a0 [x]\n"
    for number in 1..<300 {
      laughs +=
        "a\(number): &a\(number) [" + Array(repeating: "*a\(number - 1)", count: 10).joined(separator: ",") + "]\n"
      chain += "a\(number): &a\(number) [*a\(number - 1)]\n"
    }
    for text in [laughs, chain, String(repeating: "[", count: 9000), String(repeating: "- ", count: 9000)] {
      #expect(failure(text)?.code == .tooLarge, "\(text.prefix(40))")
    }
    #expect(failure(String(repeating: "[", count: 127) + String(repeating: "]", count: 127)) == nil)
    #expect(failure(String(repeating: "- x\n", count: 1 << 18))?.code == .tooLarge)
  }

  @Test(
    "that are damaged are an error with the line",
    arguments: [
      "a: b\na: c", "a: [1", "a: \"x", "a: b\n\tc: d", "a: b\n c: d", "a: \"\\q\"", "%X\n%YAML 9.9\n---\n", "a: \u{1}",
    ])
  func damaged(_ text: String) throws {
    let failure = try #require(self.failure(text))
    #expect(failure.code == .damaged && failure.reason.hasPrefix("line "), "\(failure)")
  }

  @Test("may be JSON with all its escapes") func json() throws {
    let root = try #require(try documents(#" {"a": "\ud83d\udd11\/", "b": [1, true, null]}"#).first)
    #expect(root["a"]?.text == "🔑/" && root["b"]?.elements.map(\.text) == ["1", "true", "null"])
    #expect(root["b"]?.elements.map(\.isNull) == [false, false, true])
  }

  @Test("in other bytes than UTF-8 are an error") func encodings() {
    for bytes in [[0xFF, 0xFE, 0x61, 0], [0x61, 0x3A, 0x20, 0xC3], [0xC0, 0x80]] as [[UInt8]] {
      #expect(throws: ImportFailure.self) { try YAMLDocuments.all(bytes) }
    }
  }
}
