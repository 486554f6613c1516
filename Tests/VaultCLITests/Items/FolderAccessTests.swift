import Testing
import VaultWire

@testable import VaultCLI

@Suite("Who gains and who loses by a move of many items") struct FolderAccessTests {
  private static func grant(_ subject: String, _ items: String, _ rights: String..., active: Bool = true)
    -> Wire.Permission
  {
    Wire.Permission(
      subject: subject, items: items, rights: rights, credential: nil, until: nil, created: 1, used: nil, active: active
    )
  }

  private static let moves: [FolderAccess.Change] = ["a", "b/c", "d"].map { ("bank/" + $0, "money/" + $0) }

  @Test("each subject is told of with each right and the number of items") func counted() {
    let grants = [
      Self.grant("user:4242", "bank/**", "find", "get"), Self.grant("unit:x.service", "money/*", "get"),
      Self.grant("unit:x.service", "bank/a", "get"), Self.grant("user:7", "**", "get"),
      Self.grant("user:8", "bank/**", "get", active: false),
    ]
    func lines(_ changes: [FolderAccess.Change]) -> [String] { FolderAccess.lines(changes, grants) { [$0] } }
    #expect(
      lines(Self.moves) == [
        "unit:x.service gains get on 1 item", "user:4242 loses find on 3 items", "user:4242 loses get on 3 items",
      ])
    #expect(
      lines(Self.moves.map { (nil, $0.to) }) == ["unit:x.service gains get on 2 items", "user:7 gains get on 3 items"])
    #expect(lines(Self.moves.map { ($0.from, nil) }).first == "unit:x.service loses get on 1 item")
    #expect(lines([]) == [])
  }

  @Test("a right that a process has by a wider subject also is neither gained nor lost") func kept() {
    let grants = [
      Self.grant("unit:x.service", "money/**", "get"), Self.grant("unit:y.service", "bank/**", "get"),
      Self.grant("group:9", "bank/**", "get"), Self.grant("user:4242", "money/d", "get"),
    ]
    let wider = ["unit:x.service": ["unit:x.service", "group:9"], "unit:y.service": ["unit:y.service", "user:4242"]]
    #expect(
      FolderAccess.lines(Self.moves, grants) { wider[$0] } == [
        "group:9 loses get on 3 items", "unit:y.service loses get on 2 items", "user:4242 gains get on 1 item",
      ])
  }
}
