import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The importer") struct ImporterTests {
  private static func item(
    _ name: String, _ creator: String?, _ writer: String? = nil, _ attributes: [String: String] = [:],
    version: Int = 1
  ) -> Wire.Item {
    Wire.Item(
      name: name, kind: "password", attributes: attributes, accessible: "when-unlocked", require: "none", reuse: 60,
      version: version, created: 0, modified: 0, size: 1, creator: creator, writer: writer ?? creator)
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

  private static func run(_ year: Int) -> String { "\(year)-01-01T00:00:00Z-00ff" }

  private static func last(
    _ items: [Wire.Item], kept versions: [Int] = Array(1...9)
  ) -> UndoneImport? {
    UndoneImport(last: items, Importer(uid: 1000, [])) { _ in versions }
  }

  @Test("takes back only imports of its own, and leaves what others have written since") func undo() throws {
    let (mine, other) = ("user:1000", "user:5101")
    let (one, two, later) = (Self.run(2025), Self.run(2026), Self.run(9999))
    let items = [
      Self.item("a", mine, nil, ["import": one]), Self.item("b", mine, nil, ["import": two]),
      Self.item("c", mine, nil, ["import": two, "import-replaced": "3 \(one)"]),
      Self.item("d", mine, other, ["import": two]),
      Self.item("e", mine, nil, ["import": "yes"]), Self.item("f", mine, nil, ["import": later + "g"]),
      Self.item("shared/x", other, nil, ["import": later]), Self.item("shared/y", other, mine, ["import": later]),
      Self.item("shared/z", other, nil, ["import": two]),
    ]
    let undone = try #require(Self.last(items))
    #expect(undone.run == two && undone.made == ["b"] && undone.replaced.map(\.item.name) == ["c"])
    #expect(
      undone.lines == [
        "b: to the trash", "c: back to the value of version 3",
        "d: stays, because user:5101 has written it since",
      ])
    #expect(undone.count == 2 && undone.left.isEmpty)
    #expect(Self.last(Array(items.suffix(5))) == nil)
  }

  @Test("leaves an item whose value was changed since, or whose earlier value is gone, and says so before") func kept()
    throws
  {
    let (mine, run) = ("user:1000", Self.run(2026))
    func item(_ name: String, _ attributes: [String: String], version: Int) -> Wire.Item {
      Self.item(name, mine, nil, attributes.merging(["import": run]) { own, _ in own }, version: version)
    }
    let items = [
      item("changed", ["import-version": "1"], version: 2),
      item("changed-value", ["import-version": "4", "import-replaced": "3"], version: 5),
      item("lost", ["import-version": "4", "import-replaced": "1"], version: 20),
      item("older", [:], version: 5), item("same", ["import-version": "5", "title": "x"], version: 5),
      item("same-value", ["import-version": "4", "import-replaced": "3"], version: 4),
      item("unfinished", ["import": run + " unfinished", "import-version": "5"], version: 2),
    ]
    let undone = try #require(Self.last(items, kept: [3, 4, 5]))
    #expect(
      undone.lines == [
        "changed: stays, because its value was changed since",
        "changed-value: stays, because its value was changed since",
        "lost: stays, because its earlier value is no longer kept", "older: to the trash", "same: to the trash",
        "same-value: back to the value of version 3", "unfinished: to the trash",
      ])
    #expect(undone.count == 4 && undone.keptLines.count == 3)
    #expect(undone.left.map(\.name) == ["changed", "changed-value", "lost"])
    #expect(undone.left.allSatisfy { $0.attributesWithoutImport.isEmpty })
    let replaced = try #require(undone.replaced.first)
    #expect(replaced.attributesMeanwhile["import-version"] == "5" && replaced.attributes(version: 5).isEmpty)
  }

  @Test("names the import by its sources, and fails if there is nothing of it to take back") func nothing() throws {
    func item(_ name: String, _ source: String?, version: Int) -> Wire.Item {
      var attributes = ["import": Self.run(2026), "import-version": "1"]
      attributes["source"] = source
      return Self.item(name, "user:1000", nil, attributes, version: version)
    }
    let some = try #require(Self.last([item("a", "csv:b.csv", version: 2), item("b", "csv:a.csv", version: 1)]))
    #expect(some.heading == "the import of \(Self.run(2026)) from `csv:a.csv`, `csv:b.csv`")
    #expect(some.failure == nil && some.keptText == "1 item stays as it is")
    let none = try #require(Self.last([item("a", nil, version: 2), item("b", nil, version: 3)]))
    #expect(none.heading == "the import of \(Self.run(2026))" && none.failure?.exit == .exists)
    #expect(
      none.failure?.event == "nothing of \(none.heading) can be taken back: 2 items stay as they are")
  }

  @Test("knows every import that led to a value, so that one after the other is taken back") func chain() throws {
    let field = PlannedSource.field("password", .password, [0x61])
    let imported = ImportedItem(
      try ItemName("a"), plain: try ItemName("a"), family: try ItemName("a"), kind: .password, value: field)
    func step(_ attributes: [String: String], version: Int) throws -> [String: String] {
      let present = Self.item("a", "user:1000", nil, attributes, version: version)
      return ImportStep(item: imported, name: try ItemName("a"), present: present).attributes(run: Self.run(2030))
    }
    let first = try step([:], version: 2)
    #expect(first["import-replaced"] == "2" && first["import-version"] == "3")
    var second = try step(first, version: 3)
    #expect(second["import-replaced"] == "3 \(Self.run(2030)) 2" && second["import-version"] == "4")
    // A value that was changed after the first import does not come from it, and stays one of its items that changed.
    var after = try step(first, version: 4)
    #expect(after["import-replaced"] == "4 before:\(Self.run(2030)) 2")
    after["import"] = Self.run(2031)
    let changed = try #require(Self.last([Self.item("a", "user:1000", nil, after, version: 5)]))
    let since = try #require(changed.replaced.first).attributes(version: 6)
    #expect(since == ["import": Self.run(2030), "import-replaced": "2", "import-version": "5"])
    let stays = try #require(Self.last([Self.item("a", "user:1000", nil, since, version: 6)]))
    #expect(stays.lines == ["a: stays, because its value was changed since"])
    second["title"] = "x"
    let undone = try #require(Self.last([Self.item("a", "user:1000", nil, second, version: 4)]))
    let before = try #require(undone.replaced.first).attributes(version: 5)
    #expect(
      before == ["import": Self.run(2030), "import-replaced": "2", "import-version": "5", "title": "x"])
    let again = try #require(Self.last([Self.item("a", "user:1000", nil, before, version: 5)]))
    #expect(again.lines == ["a: back to the value of version 2"])
    // Only the newest imports are noted.
    var many = first
    for version in 3..<60 { many = try step(many, version: version) }
    #expect(many["import-replaced"]?.split(separator: " ").count == 21)
  }
}
