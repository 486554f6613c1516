import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("The earlier values of a source, for an item that is there") struct ImportHistoryTests {
  private typealias Source = PlannedSource

  /// An entry whose last value is the current one.
  private static func entries(_ values: [String], _ others: [SourceField] = []) -> [MappedEntry] {
    let fields = values.enumerated().map { number, text in
      Source.field("Password", number == values.count - 1 ? .password : .oldPassword, Array(text.utf8))
    }
    return Source.map([Source.entry(.login, title: "a", of: fields + others)])
  }

  /// A vault with an item that has this value in its last version.
  private static func vault(_ value: String, version: Int = 1, require: String = "none") throws -> PlannedVault {
    var facts = try ExportedItems.item("a", .password, value).facts
    (facts.version, facts.require) = (version, require)
    var vault = PlannedVault()
    vault.put(facts, Source.field("value", .password, Array(value.utf8)))
    return vault
  }

  private static func update(
    _ vault: PlannedVault, _ values: [String], _ others: [SourceField] = []
  ) -> (stored: [String], account: ImportAccount) {
    let plan = vault.plan(entries(values, others), ImportTerms(update: true))
    let sets = plan.steps.first?.sets(number: 0, run: "run", isDivided: false) ?? []
    return (sets.map { Source.text($0.field) }, ImportAccount(plan))
  }

  private static func counts(_ account: ImportAccount) -> [ImportAccount.Group: Int] {
    Dictionary(uniqueKeysWithValues: account.groups.map { ($0.group, $0.count) })
  }

  @Test("do not displace the item's own versions if the source never had its value") func unrelated() throws {
    let old = (0..<9).map { "old\($0)" }
    let (stored, account) = Self.update(try Self.vault("mine", version: 10), old + ["new"])
    #expect(stored == ["new"])
    #expect(Self.counts(account) == [.value: 1, .history: 9])
    #expect(account.lines.contains("  9 left out, because the item has a history of its own"))
    #expect(account.report.contains("Password, 4 bytes: left out: `a` has a history of its own\n"))
    // Nobody is told that the source can go.
    #expect(account.rest.text == "9 fields" && account.lostValues == 0)
  }

  @Test("are stored from the item's value on, and those before it are there already") func continued() throws {
    let (stored, account) = Self.update(try Self.vault("2", version: 2), ["1", "2", "3", "3", "4"])
    #expect(stored == ["3", "4"])
    #expect(Self.counts(account) == [.value: 1, .version: 2, .known: 2])
    #expect(account.rest.text == nil)
  }

  @Test("count as there only as far as the number of the item's versions allows it") func fewVersions() throws {
    let (stored, account) = Self.update(try Self.vault("3"), ["1", "2", "3", "4"])
    #expect(stored == ["4"])
    #expect(Self.counts(account) == [.value: 1, .known: 1, .history: 2])
  }

  @Test("are stored with none of them if only the attributes are others") func sameValue() throws {
    let user = Source.field("User", .username, Array("ana".utf8))
    let (stored, account) = Self.update(try Self.vault("3", version: 3), ["1", "2", "3"], [user])
    #expect(stored == ["3"] && Self.counts(account)[.known] == 2)
  }

  @Test("never displace the version that is replaced, which an undo restores") func replaced() throws {
    let old = (0..<9).map { "old\($0)" }
    let (stored, account) = Self.update(try Self.vault("old0"), old + ["new"])
    #expect(stored == Array(old.dropFirst()) + ["new"] && stored.count < EntryMapping.mostVersions)
    #expect(Self.counts(account) == [.value: 1, .version: 8, .known: 1])
    #expect(Self.update(try Self.vault("x"), ["old"] + old + ["new"]).stored == ["new"])
  }

  @Test("are left out for an item whose value may not be read without a proof") func proof() throws {
    let vault = try Self.vault("1", require: "user-presence")
    #expect(Self.update(vault, ["1", "2", "3"]).stored == ["3"])
  }

  @Test("are all stored with an item beside it, and with a new one") func beside() throws {
    let both = try Self.vault("mine").plan(Self.entries(["1", "2"]), ImportTerms(keepBoth: true))
    #expect(both.steps.map(\.name.text) == ["a (2)"] && both.steps[0].skipped == 0)
    #expect(Self.counts(ImportAccount(both)) == [.value: 1, .version: 1])
    #expect(Self.update(PlannedVault(), ["1", "2"]).stored == ["1", "2"])
  }

  private static func export(_ values: ClosedRange<Int>, to sandbox: Sandbox) throws -> String {
    let old = values.dropLast().map { number in
      #"{"lastUsedDate": "2024-01-\#(number + 10)T00:00:00.000Z", "password": "v\#(number)"}"#
    }
    return try sandbox.write(
      """
      {"encrypted": false, "folders": [], "items": [{"id": "i1", "type": 1, "name": "bank",
      "passwordHistory": [\(old.joined(separator: ","))],
      "login": {"username": "me", "password": "v\(values.upperBound)"}}]}
      """, to: "bitwarden.json")
  }

  @Test("leave an item its own versions when its changed export is imported twice, and each undo restores one")
  func exported() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for number in 1...10 { try sandbox.must(["set", "bank"] + (number > 1 ? ["--update"] : []), stdin: "v\(number)") }
    func get(_ version: Int?) throws -> String {
      try sandbox.must(["get", "bank"] + (version.map { ["--version", "\($0)"] } ?? []))
    }
    for last in 11...12 {
      let path = try Self.export(1...last, to: sandbox)
      let dry = try sandbox.must(["import", "--dry-run", "--update", "--json", path])
      #expect(dry.contains(#""versions":1,"replaces":\#(last - 1)"#), "\(dry)")
      try sandbox.must(["import", "--yes", "--update", path])
    }
    for version in 3...12 { #expect(try get(version) == "v\(version)") }
    for value in ["v11", "v10"] {
      try sandbox.must(["import", "--undo", "--yes"])
      #expect(try get(nil) == value)
    }
    // An item with a value that the source has never had loses none of its own either.
    try sandbox.must(["set", "bank", "--update"], stdin: "mine")
    let path = try Self.export(1...10, to: sandbox)
    try sandbox.must(["import", "--yes", "--update", path])
    #expect(try get(nil) == "v10")
    #expect(try get(15) == "mine")
    try sandbox.must(["import", "--undo", "--yes"])
    #expect(try get(nil) == "mine")
  }
}
