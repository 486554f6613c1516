import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The plan of an import") struct ImportPlanTests {
  private typealias Source = PlannedSource

  private static func logins(_ passwords: [(String, String)], ids: Bool = false) -> [MappedEntry] {
    Source.map(
      passwords.enumerated().map { number, login in
        Source.entry(
          id: ids ? "id\(number)" : "", title: login.0, [("Password", .password, login.1), ("Notes", .note, "note")])
      })
  }

  @Test("stores everything once, and a second import changes nothing", arguments: [false, true])
  func twice(ids: Bool) {
    let entries = Self.logins([("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")], ids: ids)
    var vault = PlannedVault()
    let first = vault.plan(entries)
    #expect(
      first.steps.map(\.name.text) == [
        "a", "a/Notes", "b", "b/Notes", "a (2)", "a (2)/Notes", "a (3)", "a (3)/Notes",
      ])
    vault.store(first)
    let second = vault.plan(entries)
    #expect(second.steps.isEmpty && second.clashing == 0)
    #expect(ImportAccount(second).groups.map(\.group) == [.known])
  }

  @Test("goes on where an interrupted import ended", arguments: 0...8) func interrupted(stored: Int) {
    let entries = Self.logins([("a", "1"), ("b", "2"), ("a", "3"), ("a", "1")])
    var vault = PlannedVault()
    let first = vault.plan(entries)
    vault.store(first, first: stored)
    let rest = vault.plan(entries)
    #expect(rest.steps.map(\.name) == first.steps.dropFirst(stored).map(\.name) && rest.clashing == 0)
  }

  @Test("knows entries without identification by their content in another order") func reordered() {
    var vault = PlannedVault()
    vault.store(vault.plan(Self.logins([("a", "1"), ("a", "2")])))
    let plan = vault.plan(Self.logins([("a", "0"), ("a", "2"), ("a", "1")]))
    #expect(plan.steps.map { Source.text($0.item.value) } == ["0", "note"] && plan.clashing == 0)
    #expect(plan.steps.first?.name.text == "a (3)")
  }

  @Test("knows an entry by its identification, whatever its name is now") func renamed() {
    var vault = PlannedVault()
    let before = Self.logins([("a", "1")], ids: true)
    vault.store(vault.plan(before))
    let after = vault.plan(Self.logins([("renamed", "1")], ids: true))
    // The title is part of the content.
    #expect(after.steps.isEmpty && after.clashing == 1)
  }

  @Test("leaves a changed entry out, gives it a new version, or keeps both") func clashes() {
    var vault = PlannedVault()
    vault.store(vault.plan(Self.logins([("a", "1")])))
    let entries = Self.logins([("a", "2"), ("c", "3")])
    let plan = vault.plan(entries)
    #expect(plan.steps.map(\.name.text) == ["c", "c/Notes"] && plan.clashing == 1)
    let update = vault.plan(entries, ImportTerms(update: true))
    #expect(update.steps.map(\.name.text) == ["a", "c", "c/Notes"] && update.steps[0].present?.version == 1)
    #expect(update.steps[0].attributes(run: "two")["import-replaced"] == "1 run")
    let both = vault.plan(entries, ImportTerms(keepBoth: true))
    #expect(both.steps.map(\.name.text) == ["a (2)", "c", "c/Notes"])
    vault.store(both)
    #expect(vault.plan(entries).steps.isEmpty)
  }

  @Test("adds only the versions that came after the present value") func newerVersions() {
    func entries(_ values: String...) -> [MappedEntry] {
      let fields = values.enumerated().map { number, text in
        Source.field("Password", number == values.count - 1 ? .password : .oldPassword, Array(text.utf8))
      }
      return Source.map([Source.entry(.login, title: "a", of: fields)])
    }
    var vault = PlannedVault()
    vault.store(vault.plan(entries("1", "2")))
    let plan = vault.plan(entries("1", "2", "3", "4"), ImportTerms(update: true))
    let sets = plan.steps[0].sets(number: 0, run: "two", isDivided: false)
    #expect(sets.map { Source.text($0.field) } == ["3", "4"] && sets.allSatisfy { $0.item.update == true })
  }

  @Test("leaves out what is in the trash, and what no predicate matches") func leftOut() throws {
    let entries = Source.map([
      Source.entry(title: "a", trashed: true, [("Password", .password, "1")]),
      Source.entry(title: "b", [("Password", .password, "1"), ("URL", .url, "https://example.org/x")]),
      Source.entry(title: "c", [("Password", .password, "1")]),
    ])
    let vault = PlannedVault()
    #expect(vault.plan(entries).steps.map(\.name.text) == ["b", "c"])
    #expect(vault.plan(entries, ImportTerms(withTrash: true)).steps.count == 3)
    let only = ImportTerms(only: try Query(parsing: "url~**example.org**"))
    #expect(vault.plan(entries, only).steps.map(\.name.text) == ["b"])
  }

  @Test("goes on with an item of which only some versions are stored") func begun() {
    let fields = ["new", "old0", "old1"].enumerated().map { number, text in
      Source.field("Password", number == 0 ? .password : .oldPassword, Array(text.utf8))
    }
    let entries = Source.map([Source.entry(.login, title: "a", of: fields)])
    var vault = PlannedVault()
    let step = vault.plan(entries).steps[0]
    let sets = step.sets(number: 0, run: "run", isDivided: true)
    #expect(sets.map(\.item.update) == [nil, true, true] && sets.map(\.isLast) == [false, false, true])
    #expect(sets[0].item.attributes?["import"] == "run unfinished" && sets[2].item.attributes?["import"] == "run")
    vault.put("a", .password, sets[0].item.attributes ?? [:], sets[0].field)
    let rest = vault.plan(entries)
    #expect(rest.steps.map(\.skipped) == [1] && rest.clashing == 0)
    let left = rest.steps[0].sets(number: 0, run: "two", isDivided: false)
    #expect(left.map { Source.text($0.field) } == ["old1", "new"])
  }

  @Test("has an identification that grows with the time") func identification() {
    let times: [(Int64, Int64)] = [(0, 0), (0, 20_000), (0, 999_999_999), (1, 0), (1_800_000_000, 1)]
    let all = times.map { ImportRun.identification(second: $0.0, nanosecond: $0.1) }
    #expect(all.first == "1970-01-01T00:00:00Z-0000" && all[2] == "1970-01-01T00:00:00Z-ffff")
    #expect(all == all.sorted() && Set(all).count == all.count)
  }

  @Test("tells which new names a grant opens") func opened() throws {
    let names = try ["Mail/a", "Mail/b", "c"].map { try ItemName($0) }
    let grant = Wire.Permission(
      subject: "user:ana", items: "Mail/*", rights: ["get"], credential: nil, until: nil, created: 1, used: nil,
      active: true)
    let opened = OpenedNames(names, [grant])
    #expect(opened.names == ["Mail/a", "Mail/b"])
    #expect(opened.lines == ["`Mail/a`, `Mail/b`: open to user:ana (get) by grants"])
    #expect(OpenedNames([names[2]], [grant]).isEmpty)
  }
}
