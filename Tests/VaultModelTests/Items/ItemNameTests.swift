import Testing
import VaultModel

@Suite("Item names")
struct ItemNameTests {
  @Test(
    "An ordinary name is kept as it was given",
    arguments: [
      "a", "iothome/express.key", "a/b/c", ".hidden", "a/...", "..a/b..", "name with spaces", "Grüße/€/🔑", "a:b=c",
      "~", "-", "\u{A0}", "a/.b", String(repeating: "x", count: 512), "é" + String(repeating: "x", count: 510),
      String(repeating: "a/", count: 31) + "a",
    ])
  func good(text: String) throws {
    #expect(try ItemName(text).text == text)
    #expect(try ItemName(text).description == text)
  }

  @Test(
    "A name that breaks a rule is refused with that rule",
    arguments: [
      ("", "empty"), ("/a", "starts with"), ("a/", "ends with"), ("/", "starts with"), ("a//b", "empty part"),
      (".", "'.'"), ("..", "'.'"), ("a/../b", "'.'"), ("a/./b", "'.'"), ("../a", "'.'"), ("a/..", "'.'"),
      ("a\0b", "control"), ("a\nb", "control"), ("a\tb", "control"), ("\u{1F}", "control"), ("a\u{7F}", "control"),
      ("a\u{80}", "control"), ("a\u{9F}b", "control"), ("a\u{1B}[31m", "control"),
      (String(repeating: "a/", count: 32) + "a", "32 parts"), (String(repeating: "ü/", count: 32) + "a", "32 parts"),
      (String(repeating: "x", count: 513), "513 bytes"), ("é" + String(repeating: "x", count: 511), "513 bytes"),
    ])
  func bad(text: String, rule: String) {
    let error = #expect(throws: NameError.self) { try ItemName(text) }
    #expect(error?.reason.contains(rule) == true, "\(error?.reason ?? "")")
  }

  @Test("Every C0 and C1 control character is refused, and what lies next to them is not")
  func controls() throws {
    for value in Array(0x00...0x1F) + Array(0x7F...0x9F) {
      let scalar = try #require(Unicode.Scalar(UInt32(value)))
      #expect(throws: NameError.self) { try ItemName("a\(scalar)b") }
    }
    for value: UInt32 in [0x20, 0x7E, 0xA0] {
      let scalar = try #require(Unicode.Scalar(value))
      #expect(throws: Never.self) { try ItemName("a\(scalar)b") }
    }
  }

  @Test("The folders of a name are its prefixes, outermost first")
  func folders() throws {
    #expect(try ItemName("a").folders == [])
    #expect(try ItemName("a/b/c").folders == ["a", "a/b"])
    #expect(try ItemName("é/ü").folders == ["é"])
  }

  @Test("Names are the same when their bytes are, however their letters are composed")
  func equality() throws {
    let composed = try ItemName("caf\u{E9}")
    let decomposed = try ItemName("cafe\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(try composed == ItemName("caf\u{E9}"))
    #expect(try composed.hashValue == ItemName("caf\u{E9}").hashValue)
  }

  @Test("Names sort by their bytes")
  func order() throws {
    let sorted = try ["a/b", "B", "é", "a", "a.b"].map { try ItemName($0) }.sorted().map(\.text)
    #expect(sorted == ["B", "a", "a.b", "a/b", "é"])
  }
}
