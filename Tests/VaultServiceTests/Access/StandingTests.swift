import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("A caller's standing") struct StandingTests {
  private static func entry(_ pattern: String, until: Int64? = nil, used: Int64? = nil) throws -> GrantIndex.Entry {
    let grant = Grant(
      subject: try Subject(parsing: "user:990"), pattern: try ItemPattern(pattern),
      rights: try Rights(parsing: "get,find"), until: until, created: 1, used: used)
    return GrantIndex.Entry(ItemID.random(), grant)
  }

  @Test("is searched where its grants count, also after the clock was repaired") func areas() throws {
    let index = GrantIndex([try Self.entry("a/*", until: 2010), try Self.entry("b/*")], noteUse: nil)
    let standing = Standing(
      revision: 1, isAdministrator: false, isConfined: false, grants: [.whenUnlocked: index, .always: index])
    let all: Set<SearchArea> = [.folder("a"), .folder("b")]
    for now: Int64 in [2000, 2009] { #expect(Set(standing.areas(.find, now: now)) == all) }
    for now: Int64 in [2010, 3000] { #expect(Set(standing.areas(.find, now: now)) == [.folder("b")]) }
    for now: Int64 in [2009, 1] { #expect(Set(standing.areas(.find, now: now)) == all) }
    #expect(standing.areas(.set, now: 2009).isEmpty)
    #expect(standing.has(.find, now: 2010) && !standing.has(.set, now: 2009))
  }

  @Test("notes a use of a grant that counts, and the next one a whole day later") func uses() throws {
    var noted: [Int64] = []
    let day = GrantIndex.usePrecision
    let index = GrantIndex([try Self.entry("a/*", until: 100 + 9 * day, used: 100)]) { _, time in noted.append(time) }
    let (name, other) = (try ItemName("a/1"), try ItemName("b/1"))
    for now in [100 + day - 1, 100 + day, 100 + 2 * day - 1, 100 + 2 * day, 200, 100 + 9 * day] {
      _ = index.rights(on: name, now: now)
    }
    #expect(noted == [100 + day, 100 + 2 * day])
    _ = index.rights(on: other, now: 100 + 4 * day)
    index.noteUse(of: .set, now: 100 + 4 * day)
    #expect(noted.count == 2)
    index.noteUse(of: .find, now: 100 + 4 * day)
    #expect(noted.last == 100 + 4 * day && noted.count == 3)
    var first: [Int64] = []
    let unused = GrantIndex([try Self.entry("a/*")]) { _, time in first.append(time) }
    for _ in 0..<2 { _ = unused.rights(on: name, now: 5) }
    #expect(first == [5])
  }
}
