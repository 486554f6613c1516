import Foundation
import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

/// Adopts `present`'s change to a rendering of `source`: returns the new template, or the reason for the refusal.
func adopt(
  _ source: String, _ values: [String: String], _ present: (String) -> String
) throws -> (adopted: String?, refusal: String?) {
  let template = try template(source)
  let rendering = try Rendering(template, try fetched(values.mapValues { Array($0.utf8) }), name: "t")
  let text = Array(present(String(decoding: plain(rendering.bytes), as: UTF8.self)).utf8)
  let rewriting = unsafe Rewriting(of: rendering, template, as: text.span.bytes)
  do throws(Adoption.Refusal) {
    let adoption = try unsafe Adoption(of: rewriting, rendering, template, as: text.span.bytes)
    return (String(decoding: plain(adoption.source), as: UTF8.self), nil)
  } catch {
    return (nil, error.reason)
  }
}

@Suite("A value that a program writes a second time") struct AdoptionSpellingTests {
  private static let phrase = "it's a \"quoted\" pass phrase \\ of many words: caf\u{E9}, yes"
  private static let odd = "abc\u{A0}def\u{85}ghi\u{2028}jkl\u{1B}[0m"
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
    -----END PRIVATE KEY-----

    """

  /// A value, and the ways in which writers of YAML, JSON and shell scripts spell it.
  private static let spellings: [(value: String, spelled: String)] =
    [
      #"'it''s a "quoted" pass phrase \ of many words: café, yes'"#,
      #""it's a \"quoted\" pass phrase \\ of many words: caf\xE9, yes""#,
      #""it's a \"quoted\" pass phrase \\ of many words: caf\u00e9, yes""#,
      #""it's a \"quoted\" pass phrase \\ of many words: caf\U000000E9,\ yes""#,
      "\"it's a \\\"quoted\\\" pass\n    phrase \\\\ of many\\\n    \\ words: caf\\xe9, yes\"",
      "'it''s a \"quoted\"\n    pass phrase \\ of many\n    words: café, yes'",
      "|-\n    it's a \"quoted\" pass phrase \\ of many words: café, yes",
      ">-\n    it's a \"quoted\" pass\n    phrase \\ of many words:\n    café, yes",
      #"'it'\''s a "quoted" pass phrase \ of many words: café, yes'"#,
      #"it\'s\ a\ \"quoted\"\ pass\ phrase\ \\\ of\ many\ words:\ café,\ yes"#,
      "aXQncyBhICJxdW90ZWQiIHBhc3MgcGhyYXNlIFwgb2YgbWFueSB3\n  b3JkczogY2Fmw6ksIHllcw==",
    ].map { (phrase, $0) }
    + [
      #""abc\_def\Nghi\Ljkl\e[0m""#, #""abc\u00a0def\u0085ghi\u2028jkl\x1b[0m""#,
      "'abc\u{A0}def\u{85}ghi\u{2028}jkl\u{1B}[0m'",
    ].map { (odd, $0) }
    + [
      "|\n    " + key.replacing("\n", with: "\n    "), "\"" + key.replacing("\n", with: "\\n") + "\"",
      "'-----BEGIN PRIVATE KEY-----\n\n    MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50\n    "
        + "DFtMDoQikTmiCqirVv9mWG9qfSnF\n\n    -----END PRIVATE KEY-----'",
      "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF",
      "\"x\": \"n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU\", d: [MC4CAQAwBQYD, K2VwBCIEIJ]",
    ].map { (key, $0) }

  @Test("is found however it is quoted, escaped, folded or indented", arguments: spellings.indices)
  func spelled(index: Int) throws {
    let (value, spelled) = Self.spellings[index]
    let result = try adopt("a: {{ vault \"k\" | json }}\nb: 1\n", ["k": value]) { $0 + "copy: \(spelled)\n" }
    #expect(result.adopted == nil && result.refusal?.contains("in the clear") == true, "\(result)")
  }

  /// Values that are shorter than the parts that are searched for, and their spellings.
  private static let shortSpellings: [(value: String, spelled: String)] =
    [
      "'it''s abc'", #"it\'s\ abc"#, "\"it\\x27s\\\n    \\ abc\"", "'it''s\n\n    abc'", "|-\n    it's abc",
      "aXQncyBhYmM",
    ].map { ("it's abc", $0) }
    + ["\"ab\u{1B}cde\"", #""ab\ecde""#, #""ab\x1bcde""#, #""ab\u001Bcde""#, "|-\n    ab\u{1B}\n    cde"]
    .map { ("ab\u{1B}cde", $0) }
    + [#""a b\"cdef""#, "'a b\"cdef'", "'a\n    b\"cdef'", #"a\ b\"cdef"#, "|-\n    a b\"cdef"]
    .map { ("a b\"cdef", $0) }
    + [
      #""ab\_c\Nd\Le\Pf""#, #""ab\u00a0c\u0085d\u2028e\u2029f""#, #""ab\xa0c\x85d\U00002028e\U00002029f""#,
      "\"abc\\\n    d\\\n    ef\"", ">-\n    ab\n    cdef",
    ].map { ("ab\u{A0}c\u{85}d\u{2028}e\u{2029}f", $0) }

  @Test(
    "is found whole from six bytes on, of which blanks and quotes are none", arguments: shortSpellings.indices)
  func whole(index: Int) throws {
    let (value, spelled) = Self.shortSpellings[index]
    let result = try adopt("a: {{ vault \"k\" | json }}\nb: 1\n", ["k": value]) { $0 + "copy: \(spelled)\n" }
    #expect(result.adopted == nil && result.refusal?.hasPrefix("`k` also stands at line") == true, "\(result)")
  }

  @Test("of fewer bytes is found as it is and in its usual forms, and in no other spelling")
  func five() throws {
    func change(_ copy: String) throws -> (adopted: String?, refusal: String?) {
      try adopt("a: {{ vault \"k\" | json }}\nb: 1\n", ["k": "it's ab"]) { $0 + "copy: \(copy)\n" }
    }
    // Without its quote and its blank, the value has five bytes.
    for copy in ["'it''s ab'", "\"it's\n    ab\"", "|-\n    it's\n    ab"] {
      let result = try change(copy)
      #expect(result.adopted != nil, "\(result)")
    }
    for copy in ["it's ab", #""\u0069t's ab""#, "aXQncyBhYg"] {
      let result = try change(copy)
      #expect(result.refusal == "`k` also stands at line 3, in the clear", "\(result)")
    }
  }

  @Test("is found by eight bytes of it that the program has inserted, and not by seven") func part() throws {
    let source = "# hunter2-correct is the old one\na: {{ vault \"k\" }}\n"
    let value = ["k": "hunter2-correct-horse"]
    let part = try adopt(source, value) { $0 + "log: began with \"ect-h\\u006Frs\"\n" }
    #expect(part.refusal == "a part of `k` stands at line 3, in the clear")
    #expect(try adopt(source, value) { $0 + "log: -h'o'r's'e, rect-ho\n" }.adopted != nil)
    // Words that the template itself contains reveal nothing new.
    #expect(try adopt(source, value) { $0 + "# hunter2-correct is the old one, said twice\n" }.adopted != nil)
  }

  @Test("is not taken for what says nothing of it: the lines around another key, and a scheme") func telling() throws {
    let source = "key: {{ vault \"k\" | json }}\nurl: {{ vault \"u\" }}\n"
    let values = ["k": Self.key, "u": "https://user:pass-word@host.example/x"]
    let other = Self.key.split(separator: "\n").map { $0.hasPrefix("--") ? String($0) : "TG9yZW0gaXBzdW0=" }
    let result = try adopt(source, values) {
      $0 + "other: |\n  \(other.joined(separator: "\n  "))\nsee: https://docs.org/\n"
    }
    #expect(result.adopted != nil, "\(result)")
    let leak = try adopt(source, values) { $0 + "see: https://user:pass-word@elsewhere.example\n" }
    #expect(leak.refusal == "a part of `u` stands at line 3, in the clear")
  }

  @Test(
    "is found in base64 behind any text and before any, in both alphabets",
    arguments: ["correct-horse-77-battery", "p\u{FB}\u{FF}ss\u{3FF}?>~wort", "p3?~\u{FF}"])
  func basic(value: String) throws {
    let source = #"{"auths":{"r.io":{"password":{{ vault "k" | json }}}}}"#
    for user in ["", "a:", "an:", "ana:", "anna:"] {
      for end in ["", "\n", ":x", "@example.org"] {
        let form = Data((user + value + end).utf8).base64EncodedString()
        for form in [form, form.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")] {
          let result = try adopt(source, ["k": value]) { $0.dropLast(2) + #","auth":"\#(form)"}}"# }
          #expect(result.refusal?.contains("in the clear") == true, "\(user) \(end) \(result)")
        }
      }
    }
    // A file with a different password is adopted.
    let other = Data("ana:another-one-of-them".utf8).base64EncodedString()
    #expect(try adopt(source, ["k": value]) { $0.dropLast(2) + #","auth":"\#(other)"}}"# }.adopted != nil)
  }

  @Test("is looked for in steps that grow with the text alone", arguments: ["1", "031-45-154"])
  func many(value: String) throws {
    let count = 200_000
    let template = try template("a: {{ vault \"k\" }}\n")
    let rendering = try Rendering(template, try fetched(["k": Array(value.utf8)]), name: "t")
    let text = Array(("a: \(value)\n" + String(repeating: "- \(value)\n", count: count)).utf8)
    let rewriting = unsafe Rewriting(of: rendering, template, as: text.span.bytes)
    #expect(rewriting.others.map { $0.first } == [2] && rewriting.fates == [.stands(1)])
    #expect((count..<4 * count).contains(rewriting.steps), "\(rewriting.steps)")
  }

  @Test("is looked for outside of many places in steps that grow with the text", arguments: ["1", "031-45-154"])
  func outside(value: String) throws {
    let count = 20_000
    let line = Array("- \(value)\n".utf8)
    let text = Array(Array(repeating: line, count: count).joined())
    let places = (0..<count).map { $0 * line.count + 2..<($0 + 1) * line.count - 1 }
    let value = Array(value.utf8)
    let all = unsafe ValueSearch(text.span.bytes, outside: places, before: text.span.bytes, places)
    var steps = 0
    #expect(unsafe all.first(value.span.bytes, in: text.span.bytes, steps: &steps) == nil)
    // Each place is found in several forms; a search among the places takes at most 15 steps.
    #expect((count..<300 * count).contains(steps), "\(steps)")
    let others = unsafe ValueSearch(
      text.span.bytes, outside: Array(places.dropLast()), before: text.span.bytes, places)
    steps = 0
    let found = unsafe others.first(value.span.bytes, in: text.span.bytes, steps: &steps)
    #expect(found == ValueSearch.Found(place: places[count - 1].lowerBound, isWhole: true))
    #expect((count..<300 * count).contains(steps), "\(steps)")
  }

  @Test("is found in a text of which each part stood before") func gramSet() {
    var set = GramSet()
    for gram in 0..<10_000 as Range<UInt64> where gram % 3 == 0 { set.insert(gram << 40 | gram) }
    for gram in 0..<10_000 as Range<UInt64> { #expect(set.contains(gram << 40 | gram) == (gram % 3 == 0)) }
  }
}
