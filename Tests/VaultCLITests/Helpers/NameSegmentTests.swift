import Testing
import VaultBytes
import VaultModel

@testable import VaultCLI

@Suite("Another program's name as a part of an item's") struct NameSegmentTests {
  @Test(
    "has a spelling for every byte",
    arguments: [
      ("github.com", "github.com"), ("example.org:8443", "example.org:8443"), ("ana@example.org", "ana@example.org"),
      ("a/b", "a%2Fb"), ("%", "%25"), ("", "%"), (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), (".a", ".a"),
      ("a b", "a%20b"), ("ü", "%C3%BC"), ("a\n", "a%0A"), ("\0", "%00"), ("*?[~=<>\"\\", "%2A%3F%5B%7E%3D%3C%3E%22%5C"),
    ])
  func spelled(name: String, segment: String) {
    #expect(NameSegment.encode(name) == segment)
    #expect(NameSegment.decode(segment) == Array(name.utf8))
  }

  @Test("is a valid name, is one part, and no two bytes and no two pairs have the same spelling") func injective()
    throws
  {
    var seen: Set<String> = []
    let all = (UInt8.min...UInt8.max).map { [$0] }
    for name in [[]] + all + all.flatMap({ first in all.map { first + $0 } }) {
      let segment = NameSegment.encode(name)
      #expect(seen.insert(segment).inserted)
      #expect(NameSegment.decode(segment) == name)
      #expect(!segment.contains("/") && (try? ItemName(segment)) != nil, "\(segment)")
    }
  }

  @Test(
    "is read from its own spelling alone",
    arguments: ["", "%2f", "%41", "a%", "%2", "%zz", "ü", "a b", ".", "..", "%oauth_refresh_token", "a/b", "%%", "~"])
  func others(text: String) { #expect(NameSegment.decode(text) == nil) }
}
