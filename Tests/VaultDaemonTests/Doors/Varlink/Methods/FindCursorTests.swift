import NIOCore
import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@Suite("Cursors") struct FindCursorTests {
  private static let owner = searcher()

  private static func searcher(
    key: UInt8 = 1, uid: UInt32 = 990, _ query: String = "kind=wifi", ofTrash: Bool = false, reach: [UInt64] = [3, 9]
  ) -> FindCursor.Owner {
    FindCursor.Owner(
      SecretBox(SecureBytes(count: 32) { $0.storeBytes(of: key, as: UInt8.self) }), uid: uid, query: query,
      isOfTrash: ofTrash, reach: reach)
  }

  private static let place = SearchPlace(area: .max, row: 4711)

  @Test("are read back by whom they were told, and by nobody else") func owners() {
    let text = FindCursor(Self.place).text(for: Self.owner)
    #expect(FindCursor(text, of: Self.owner)?.place == Self.place)
    #expect(FindCursor(text, of: Self.searcher(key: 2)) == nil)
    #expect(FindCursor(text, of: Self.searcher(uid: 991)) == nil)
  }

  @Test("go on with the search that they are of alone, for who has the same rights as then") func searches() {
    let text = FindCursor(Self.place).text(for: Self.owner)
    for other in ["kind=wif", "kind=wifi ", "", "kind=wifi\0"] {
      #expect(FindCursor(text, of: Self.searcher(other)) == nil, "\(other)")
    }
    #expect(FindCursor(text, of: Self.searcher(ofTrash: true)) == nil)
    for reach in [[], [3], [9], [3, 9, 10], [9, 3], [0]] as [[UInt64]] {
      #expect(FindCursor(text, of: Self.searcher(reach: reach)) == nil, "\(reach)")
    }
    #expect(FindCursor(text, of: Self.searcher())?.place == Self.place)
  }

  @Test("tell nothing: one place has another text each time") func opaque() {
    let texts = Set((0..<100).map { _ in FindCursor(Self.place).text(for: Self.owner) })
    #expect(texts.count == 100)
    #expect(Set(texts.map(\.utf8.count)).count == 1)
  }

  @Test("that nobody was told are none") func forged() {
    let text = Array(FindCursor(Self.place).text(for: Self.owner).utf8)
    for index in text.indices {
      var changed = text
      changed[index] = changed[index] == 0x30 ? 0x31 : 0x30
      #expect(FindCursor(String(decoding: changed, as: UTF8.self), of: Self.owner) == nil)
      #expect(FindCursor(String(decoding: text[..<index], as: UTF8.self), of: Self.owner) == nil)
    }
    let place = String(repeating: "0", count: 31) + "1"
    for other in [place, "", String(decoding: text, as: UTF8.self).uppercased() + "0"] {
      #expect(FindCursor(other, of: Self.owner) == nil)
    }
  }

  // MARK: At the socket

  /// Returns the answer to a search with these parameters.
  private static func find(_ stand: ConnectionStand, _ parameters: String) throws -> String {
    try stand.on { client in
      client.pass(.seconds(1))
      client.call("Find", "{\(parameters)}")
    }
    try stand.goRound("an answer") { client in !client.hasWork }
    return try stand.on { client in client.messages().joined() }
  }

  @Test("go on over a restart, and not with another query, nor once their caller may find more or less")
  func atTheDoor() throws {
    let stand = try ConnectionStand.unlocked("idle = off", uid: 4242)
    defer { stand.close() }
    try stand.on { client in
      for name in ["own/1", "own/2", "other/1", "hidden"] {
        try client.vault.keychain().set(ItemChange(name: ItemName(name)), value: ConnectionStand.secret([1]), now: 1)
      }
      try client.give("find", to: 4242, on: "own/*")
    }
    let first = try Self.find(stand, #""limit":1"#)
    let next = try #require(first.firstMatch(of: /"next":"([0-9a-f]+)"/)?.1)
    let told = first.contains("own/1") ? "own/1" : "own/2"
    func goOn(_ more: String = "") throws -> String { try Self.find(stand, #""after":"\#(next)""# + more) }
    func expectRest() throws {
      let rest = try goOn()
      #expect(rest.contains(told == "own/1" ? "own/2" : "own/1") && !rest.contains(told), "\(rest)")
    }
    func expectRefused(_ reply: String) {
      #expect(reply.contains("InvalidParameter") && reply.contains(#""after""#) && !reply.contains("own"), "\(reply)")
    }
    try expectRest()
    for more in [#","query":"kind=password""#, #","query":" ""#] { expectRefused(try goOn(more)) }
    // The store is opened anew, so its keys are read again.
    try stand.edit("SELECT 1")
    try expectRest()
    try stand.on { client in try client.give("find", to: 4242, on: "other/*") }
    expectRefused(try goOn())
    try stand.on { client in
      let access = client.assembly.rooms.access
      _ = try access.revoke(
        try Subject(parsing: "user:4242"), try ItemPattern("other/*"), for: client.owner())
    }
    // With the same rights as before, the cursor is valid again.
    try expectRest()
    try stand.on { client in
      let access = client.assembly.rooms.access
      _ = try access.revoke(try Subject(parsing: "user:4242"), nil, for: client.owner())
      try client.give("find", to: 4242, on: "own/1")
    }
    expectRefused(try goOn())
  }
}
