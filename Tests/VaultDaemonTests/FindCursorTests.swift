import Testing
import VaultCore
import VaultService

@testable import VaultDaemon

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
}
