import Testing
import VaultWire

@testable import VaultCLI

@Suite("The importer") struct ImporterTests {
  private static func item(
    _ name: String, _ creator: String?, _ writer: String? = nil, _ attributes: [String: String] = [:]
  ) -> Wire.Item {
    Wire.Item(
      name: name, kind: "password", attributes: attributes, accessible: "when-unlocked", require: "none", reuse: 60,
      version: 1, created: 0, modified: 0, size: 1, creator: creator, writer: writer ?? creator)
  }

  private static func grant(_ subject: String, active: Bool = true) -> Wire.Permission {
    Wire.Permission(
      subject: subject, items: "a/*", rights: ["set"], credential: nil, until: nil, created: 1, used: nil,
      active: active)
  }

  @Test("is its user, in whatever session or unit that no grant names") func itself() {
    let importer = Importer(uid: 1000, [Self.grant("unit:held.service"), Self.grant("user:1000,exe:/bin/a")])
    for author in ["user:1000", "user:1000,unit:app-terminal@1.service"] {
      #expect(importer.stranger(in: Self.item("a", author)) == nil)
    }
    #expect(importer.stranger(in: Self.item("a", nil)) == "a caller that is not known")
    for author in ["user:1001", "user:0", "user:1000,unit:held.service", "unit:a.service", "user:10001", ""] {
      #expect(importer.stranger(in: Self.item("a", author)) == author)
      #expect(importer.stranger(in: Self.item("a", "user:1000", author)) == author)
      #expect(importer.stranger(in: Self.item("a", author, "user:1000")) == author)
    }
  }

  @Test("is no program of its user that is held to its grants, even if these have ended or are gone")
  func confined() {
    let author = "user:1000,unit:held.service"
    for importer in [
      Importer(uid: 1000, [Self.grant("user:1000,unit:held.service", active: false)]),
      Importer(uid: 1000, [], confined: ["unit:held.service,exe:/bin/a"]),
    ] {
      #expect(importer.stranger(in: Self.item("a", author)) == author)
    }
    #expect(Importer(uid: 1000, []).stranger(in: Self.item("a", author)) == nil)
  }

  @Test("takes back only imports of its own, and leaves what others have written since") func undo() throws {
    let importer = Importer(uid: 1000, [])
    let (mine, other) = ("user:1000", "user:5101")
    let items = [
      Self.item("a", mine, nil, ["import": "2026-1"]), Self.item("b", mine, nil, ["import": "2026-2"]),
      Self.item("c", mine, nil, ["import": "2026-2", "import-replaced": "3 2026-1"]),
      Self.item("d", mine, other, ["import": "2026-2"]),
      Self.item("shared/x", other, nil, ["import": "9999-1"]), Self.item("shared/y", other, mine, ["import": "9999-1"]),
      Self.item("shared/z", other, nil, ["import": "2026-2"]),
    ]
    let found = try #require(ImportUndo.last(among: items, importer))
    #expect(found.run == "2026-2" && found.made == ["b"] && found.replaced.map(\.item.name) == ["c"])
    #expect(
      found.lines == [
        "b: to the trash", "c: back to the value of version 3",
        "d: stays, because user:5101 has written it since",
      ])
    #expect(ImportUndo.last(among: Array(items.suffix(3)), importer) == nil)
  }
}
