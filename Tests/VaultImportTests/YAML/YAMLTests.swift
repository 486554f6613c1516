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

  @Test("may have many documents, up to a number of them and of all their values") func many() throws {
    let most = YAMLDocuments.most
    func text(_ count: Int, _ document: String = "---\n") -> String { String(repeating: document, count: count) }
    #expect(try documents(text(most.documents)).count == most.documents)
    let more = try #require(failure(text(most.documents + 1)))
    #expect(more.code == .tooLarge && more.reason.hasPrefix("line 65537 "), "\(more)")
    #expect(more.reason.hasSuffix("there are more than 65536 documents"))
    // A document of few bytes has as many values as one may have.
    var laughs = "---\na0: &a0 [" + Array(repeating: "x", count: 9).joined(separator: ",") + "]\n"
    for number in 1..<5 {
      laughs +=
        "a\(number): &a\(number) [" + Array(repeating: "*a\(number - 1)", count: 9).joined(separator: ",") + "]\n"
    }
    let size = try #require(try documents(laughs).first).size.values
    #expect(size > 1 << 16 && size <= most.values)
    let fitting = most.allValues / size
    #expect(try documents(text(fitting, laughs)).count == fitting)
    let larger = try #require(failure(text(fitting + 1, laughs)))
    #expect(larger.code == .tooLarge && larger.reason.hasSuffix("more than 1048576 values in all documents"))
  }

  @Test("may be empty between those of Kubernetes") func empty() throws {
    let secret = "---\nkind: Secret\napiVersion: v1\nmetadata: {name: n}\nstringData: {a: b}\n"
    for count in [1, 4000] {
      let file = Source.File("a.yaml", Array((String(repeating: "---\n", count: count) + secret).utf8))
      var found = Found()
      let source = Source([file]) { (_) throws(ImportFailure) in nil }
      try KubernetesReader.read(source, into: &found)
      #expect(found.entries.map(\.title) == ["n"])
    }
  }

  private struct Found: EntrySink {
    var entries: [Entry] = []

    mutating func begin(_ format: ImportedFormat) throws(ImportFailure) {}
    mutating func add(_ entry: Entry) throws(ImportFailure) { entries.append(entry) }
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
