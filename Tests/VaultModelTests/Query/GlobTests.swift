import Testing

@testable import VaultModel

@Suite("Patterns")
struct GlobTests {
  @Test(
    "A star stays within a part, two do not, a question mark is one character",
    arguments: [
      ("", "", true), ("", "a", false), ("a", "a", true), ("a", "A", false), ("*", "", true), ("*", "ab", true),
      ("*", "a/b", false), ("a/*", "a/b", true), ("a/*", "a/b/c", false), ("a/*", "a", false), ("*/*", "a/b", true),
      ("*/*", "a/b/c", false), ("**", "", true), ("**", "a/b/c", true), ("a/**", "a/b/c", true), ("a/**", "a", false),
      ("**/c", "a/b/c", true), ("**/c", "c", false), ("a**c", "a/b/c", true), ("a**c", "ac", true),
      ("a*b**c*d", "axb/y/cxd", true), ("a*b**c*d", "a/b/y/cxd", false), ("***", "a/b", true), ("?", "a", true),
      ("?", "", false), ("?", "/", false), ("?", "é", true), ("??", "e\u{301}", true), ("?", "🔑", true),
      ("a?c", "a/c", false), ("*.key", "express.key", true), ("*.key", "express.keys", false),
      ("*a*a*b", "aaaaaaaab", true), ("[a]", "a", false), ("[a]", "[a]", true), ("\\*", "\\x", true),
    ])
  func matching(pattern: String, text: String, expected: Bool) {
    #expect(Glob(pattern).matches(text) == expected)
  }

  @Test(
    "Two patterns overlap when some text matches both",
    arguments: [
      ("a", "a", true), ("a", "b", false), ("db/*", "db/x", true), ("db/*", "db/x/y", false), ("db/**", "db/x/y", true),
      ("db/*", "*/x", true), ("db/*", "web/**", false), ("a*", "*b", true), ("a*c", "ab*", true), ("?", "a", true),
      ("?", "ab", false), ("?", "/", false), ("**", "a/b?", true), ("a/*", "a/?/**", false), ("a**", "**/b", true),
      ("*", "**/x", false), ("a*b", "a*c", false),
    ])
  func overlapping(one: String, other: String, expected: Bool) {
    #expect(Glob(one).overlaps(Glob(other)) == expected && Glob(other).overlaps(Glob(one)) == expected)
  }

  /// Follows the definition of a glob literally, and tries every way to match.
  private static func reference(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    if first == "*" {
      let isAcross = rest.first == "*"
      let after = isAcross ? rest.dropFirst() : rest
      if reference(after, text) { return true }
      guard let next = text.first, isAcross || next != "/" else { return false }
      return reference(pattern, text.dropFirst())
    }
    guard let next = text.first, first == "?" ? next != "/" : next == first else { return false }
    return reference(rest, text.dropFirst())
  }

  @Test("All short patterns and texts agree with the definition")
  func exhaustive() {
    func words(_ letters: String, upTo count: Int) -> [String] {
      var all = [""]
      var last = [""]
      for _ in 0..<count {
        last = last.flatMap { word in letters.map { word + String($0) } }
        all += last
      }
      return all
    }
    let texts = words("a/", upTo: 5)
    var disagreements: [String] = []
    for pattern in words("a/*?", upTo: 5) {
      let glob = Glob(pattern)
      for text in texts where glob.matches(text) != Self.reference(Array(pattern)[...], Array(text)[...]) {
        disagreements.append("\(pattern) on \(text)")
      }
    }
    #expect(disagreements.isEmpty)
  }

  @Test(
    "A pattern made to be slow is not: its steps are the text's characters, times a word for each 64 of the pattern",
    arguments: [
      String(repeating: "**a*a", count: 200) + "b", String(repeating: "*?", count: 500) + "b",
      String(repeating: "?", count: 1024), "**" + String(repeating: "a", count: 1021) + "b",
      String(repeating: "**", count: 500) + "b",
    ])
  func hostile(pattern: String) {
    let glob = Glob(pattern)
    let text = String(repeating: "a", count: 1024)
    #expect(glob.matches(text) == (pattern.last == "?"))
    #expect(glob.steps(for: text) <= 1024 * (1024 / 64 + 1))
    // A text twice as long takes twice as many steps.
    #expect(glob.steps(for: text + text) <= 2 * 1024 * (1024 / 64 + 1))
  }

  @Test("Patterns longer than a word of states, and with characters far apart, match as short ones do")
  func long() {
    for count in [62, 63, 64, 65, 127, 128, 129, 600] {
      let word = String((0..<count).map { Character(Unicode.Scalar(0x100 + UInt32($0)) ?? "x") })
      #expect(Glob(word).matches(word) && !Glob(word).matches(word + "x") && !Glob(word).matches("x" + word))
      #expect(Glob(containing: word).matches("a/\(word)/b") && Glob("*/" + word).matches("a/\(word)"))
      #expect(!Glob("*" + word).matches("a/\(word)") && !Glob(word + "?").matches(word + "/"))
      #expect(Glob(word + "?*").matches(word + "xy"))
    }
  }

  @Test("A folder is the literal beginning up to its last slash")
  func folder() {
    #expect(Glob("a/b/*").folder == "a/b" && Glob("a/b").folder == "a" && Glob("a*/b").folder == nil)
    #expect(Glob("**").folder == nil && Glob("ü/x?").folder == "ü")
  }
}
