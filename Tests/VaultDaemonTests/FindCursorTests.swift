import Testing
import VaultService

@testable import VaultDaemon

@Suite("Cursors") struct FindCursorTests {
  private static let owner = FindCursor.Owner(vault: [UInt8](repeating: 1, count: 16), uid: 990)
  private static let place = SearchPlace(area: .max, row: 4711)

  @Test("are read back by whom they were told, and by nobody else") func owners() {
    let text = FindCursor(Self.place).text(for: Self.owner)
    #expect(FindCursor(text, of: Self.owner)?.place == Self.place)
    #expect(FindCursor(text, of: .init(vault: Self.owner.vault, uid: 991)) == nil)
    #expect(FindCursor(text, of: .init(vault: [UInt8](repeating: 2, count: 16), uid: 990)) == nil)
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
