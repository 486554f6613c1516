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
          id: ids ? "\(number)aa0bb11-2222-4333-8444-555566667777" : "", title: login.0,
          [("Password", .password, login.1), ("Notes", .note, "note")])
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
    #expect(update.steps[0].attributes(run: "two")["import-version"] == "2")
    let both = vault.plan(entries, ImportTerms(keepBoth: true))
    #expect(both.steps.map(\.name.text) == ["a (2)", "c", "c/Notes"])
    vault.store(both)
    #expect(vault.plan(entries).steps.isEmpty)
  }

  @Test("leaves out an entry that would give a key another kind, which the vault refuses") func fixed() throws {
    let pem = try ExportedItems.value(of: .sshKey)
    let entries = Source.map([Source.entry(.key, title: "a", [("key", .password, pem), ("pin", .secret, "1")])])
    var facts = try ExportedItems.item("a", .sshKey, pem + "x").facts
    for (use, isFixed) in [("ssh", true), (nil, false)] as [(String?, Bool)] {
      facts.use = use
      var vault = PlannedVault()
      vault.put(facts, Source.field("value", .password, Array((pem + "x").utf8)))
      let plan = vault.plan(entries, ImportTerms(update: true))
      #expect(plan.steps.isEmpty == isFixed && plan.blocked(by: .kind) == (isFixed ? 1 : 0))
      let plain = vault.plan(entries)
      #expect(plain.blocked(by: .content) == 1 && plain.blocked(by: .kind) == 0)
      #expect(vault.plan(entries, ImportTerms(keepBoth: true)).steps.map(\.name.text) == ["a (2)", "a/pin"])
    }
    // A key gets a new version of its own kind.
    facts.use = "ssh"
    var vault = PlannedVault()
    vault.put(facts, Source.field("value", .password, Array((pem + "x").utf8)))
    let key = Source.map([Source.entry(.sshKey, title: "a", [("key", .password, pem)])])
    #expect(vault.plan(key, ImportTerms(update: true)).steps.map(\.name.text) == ["a"])
  }

  @Test("tells an item that could not be compared from one with another content") func uncompared() throws {
    var vault = PlannedVault()
    for name in ["a", "b"] {
      var facts = try ExportedItems.item(name, .password, "1").facts
      facts.require = name == "a" ? "user-presence" : "none"
      vault.put(facts, Source.field("value", .password, Array("9".utf8)))
    }
    var plan = vault.plan(Self.logins([("a", "1"), ("b", "1")]))
    #expect(plan.blocked(by: .content) == 2 && plan.blocked(by: .proof) == 0)
    plan.uncompared = [try ItemName("a")]
    #expect(plan.blocked(by: .content) == 1 && plan.blocked(by: .proof) == 1)
  }

  /// Two files of the same name have the same identifications, which are places in the file.
  @Test("takes a file of the same name below another folder for another source", arguments: [[], ["b"]])
  func sameFileName(into: [String]) {
    func entries(_ value: String, into: [String]) -> [MappedEntry] {
      let keys = ["KEY", "REGION"].map { name in
        Source.entry(
          .value, id: "env/\(name)", folder: ["env"], title: name,
          [(name, .secret, name == "KEY" ? value : "eu")])
      }
      return Source.map(keys, into: into)
    }
    var vault = PlannedVault()
    vault.store(vault.plan(entries("one", into: ["a"])))
    for terms in [ImportTerms(), ImportTerms(update: true), ImportTerms(keepBoth: true)] {
      let plan = vault.plan(entries("two", into: into), terms)
      let folder = (into + [""]).joined(separator: "/")
      #expect(plan.steps.map(\.name.text) == ["\(folder)env/KEY", "\(folder)env/REGION"] && plan.clashing == 0)
      #expect(plan.steps.allSatisfy { $0.present == nil })
    }
    // A second run of the same command changes nothing, and a changed value is a change of the same item.
    vault.store(vault.plan(entries("two", into: into)))
    #expect(vault.plan(entries("two", into: into)).steps.isEmpty)
    #expect(vault.plan(entries("one", into: ["a"])).steps.isEmpty)
    let update = vault.plan(entries("three", into: ["a"]), ImportTerms(update: true))
    #expect(update.steps.map(\.name.text) == ["a/env/KEY"] && update.steps.first?.present != nil)
    vault.store(vault.plan(entries("three", into: ["a"]), ImportTerms(keepBoth: true)))
    #expect(vault.plan(entries("three", into: ["a"])).steps.isEmpty)
  }

  @Test("knows an entry by an identification that is like no other in whatever folder, and says where")
  func sameIdentification() {
    func entries(_ id: String, into: [String] = []) -> [MappedEntry] {
      Source.map([Source.entry(id: id, title: "a", [("Password", .password, "1")])], into: into)
    }
    for (id, isIdentified) in [("i1", true), ("{7AA0BB11-2222-4333-8444-555566667777}", false)] {
      var vault = PlannedVault()
      vault.store(vault.plan(entries(id, into: ["kp"]), isIdentified: isIdentified))
      let plan = vault.plan(entries(id, into: ["other"]), isIdentified: isIdentified)
      #expect(plan.steps.isEmpty && plan.entries[0].names == ["kp/a"])
    }
    for text in ["", "aa", "7aa0bb11-2222-4333-8444-55556666777", "7aa0bb112222-4333-8444-5555666677778888"] {
      #expect(!PresentItems.isUUID(text))
    }
  }

  private static let ids = ["source": "csv:file", "source-id": "0aa0bb11-2222-4333-8444-555566667777"]

  @Test(
    "never takes an item that others have made or written for one of its own",
    arguments: [
      ("user:1000", "user:5101"), ("user:5101", "user:1000"), ("user:5101", "user:5101"),
      ("user:1000,unit:a.service", "user:1000"), (nil, nil),
    ] as [(String?, String?)])
  func strangers(creator: String?, writer: String?) {
    func fields(_ values: String...) -> [SourceField] {
      values.enumerated().map { number, text in
        Source.field("Password", number == values.count - 1 ? .password : .oldPassword, Array(text.utf8))
      }
    }
    let id = Source.field("id", .identifier, Array((Self.ids["source-id"] ?? "").utf8))
    let entries = Source.map([Source.entry(.login, title: "bank", of: [id] + fields("old", "new"))])
    // By the identification, with the content, and as what an interrupted import has left.
    for (value, run) in [("mine", "run"), ("new", "run"), ("old", "run unfinished")] {
      var vault = PlannedVault()
      let attributes = Self.ids.merging(["import": run]) { own, _ in own }
      vault.put("shared/x", .password, attributes, fields(value)[0], creator: creator, writer: writer)
      for terms in [ImportTerms(), ImportTerms(update: true), ImportTerms(keepBoth: true)] {
        let plan = vault.plan(entries, terms)
        #expect(plan.steps.map(\.name.text) == ["bank"] && plan.steps[0].present == nil && plan.clashing == 0)
      }
    }
    // Under the very name.
    for (value, run) in [("mine", "run"), ("new", "run"), ("old", "run unfinished")] {
      var vault = PlannedVault()
      let attributes = Self.ids.merging(["import": run]) { own, _ in own }
      vault.put("bank", .password, attributes, fields(value)[0], creator: creator, writer: writer)
      for terms in [ImportTerms(), ImportTerms(update: true)] {
        let plan = vault.plan(entries, terms)
        #expect(plan.steps.isEmpty && plan.clashing == 1)
        #expect(plan.blocked(by: .content) == 0 && plan.blocked(by: .others) == 1)
        #expect(ImportAccount(plan).groups.map(\.group) == [.clash])
      }
      let both = vault.plan(entries, ImportTerms(keepBoth: true))
      #expect(both.steps.map(\.name.text) == ["bank (2)"] && both.blocked(by: .others) == 0)
    }
  }

  @Test("leaves an entry out as a whole, even with --update, if one of its items is one of others")
  func partOfOthers() {
    var vault = PlannedVault()
    vault.store(vault.plan(Self.logins([("a", "1"), ("b", "1")])))
    vault.put("a/Notes", .note, [:], Source.field("Notes", .note, Array("x".utf8)), writer: "user:5101")
    let entries = Self.logins([("a", "2"), ("b", "2")])
    let update = vault.plan(entries, ImportTerms(update: true))
    #expect(update.steps.map(\.name.text) == ["b"] && update.blocked(by: .others) == 1)
    let plan = vault.plan(entries)
    #expect(plan.steps.isEmpty && plan.clashing == 2)
    #expect(plan.blocked(by: .content) == 1 && plan.blocked(by: .others) == 1)
    let both = vault.plan(entries, ImportTerms(keepBoth: true))
    #expect(both.steps.map(\.name.text) == ["a (2)", "a/Notes (2)", "b (2)"])
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

  @Test("tells what only the source has: entries left out, and fields refused unless they are nobody's data")
  func rest() throws {
    func rest(_ entries: [MappedEntry], _ terms: ImportTerms = ImportTerms()) -> (text: String?, lost: Int) {
      let account = ImportAccount(PlannedVault().plan(entries, terms))
      return (account.rest.text, account.lostValues)
    }
    func field(_ name: String, _ role: ImportedField.Role, _ text: String, refused: Bool = true) -> SourceField {
      Source.field(name, role, Array(text.utf8), refusal: refused ? "it is too large" : nil)
    }
    let whole = [field("Password", .password, "1", refused: false), field("icon", .setting, "7", refused: false)]
    let empty = field("Notes", .note, "", refused: false)
    #expect(rest(Source.map([Source.entry(.login, title: "a", of: whole + [empty])])) == (nil, 0))
    let refused = [field("Notes", .note, "n"), field("f", .attachment, "f")]
    let large = Source.entry(.login, title: "b", of: whole + refused)
    // The file may be one of another format.
    #expect(rest(Source.map([large])) == ("1 field, 1 file", 1))
    // The vault keeps only some of the earlier values anyway.
    let old = (0..<12).map { number in field("Password", .oldPassword, "old\(number)", refused: false) }
    #expect(rest(Source.map([Source.entry(.login, title: "c", of: whole + old)])) == ("3 fields", 0))
    let trashed = Source.entry(title: "d", trashed: true, [("Password", .password, "1"), ("PIN", .secret, "2")])
    #expect(rest(Source.map([trashed, large])) == ("1 entry, 1 field, 1 file", 1))
    #expect(rest(Source.map([trashed]), ImportTerms(withTrash: true)) == (nil, 0))
    let only = ImportTerms(only: try Query(parsing: "name=nothing"))
    #expect(rest(Self.logins([("a", "1"), ("b", "2")]), only) == ("2 entries", 0))
    var vault = PlannedVault()
    vault.store(vault.plan(Self.logins([("a", "1")])))
    let changed = Self.logins([("a", "2")])
    #expect(ImportAccount(vault.plan(changed)).rest.text == "1 entry")
    #expect(ImportAccount(vault.plan(changed, ImportTerms(update: true))).rest.text == nil)
    #expect(ImportAccount(vault.plan(changed, ImportTerms(keepBoth: true))).rest.text == nil)
  }

  @Test("a file is lost if it is too large for an item, and not if it is one of another format") func lostFiles() {
    func lost(_ refusal: String) -> Int {
      let file = SourceField(ImportedField("f", .attachment, size: 2 << 20, refusal: refusal), Source.buffer([]))
      return ImportAccount(PlannedVault().plan(Source.map([Source.entry(.login, title: "a", of: [file])]))).lostValues
    }
    #expect(lost(ImportedField.tooLarge(2 << 20)) == 1 && lost("no kubeconfig names this file") == 0)
  }

  @Test("an entry with nothing to store is one line, and one entry that only the source has") func nothing() {
    let entries = Source.map(
      ["a", "b"].map { Source.entry(id: $0, folder: ["Mail"], title: $0, [("created", .created, "1000000000")]) })
    let account = ImportAccount(PlannedVault().plan(entries))
    let lines = account.lines.filter { $0.hasPrefix("refused: ") }
    #expect(lines == ["refused: `Mail/a`, `Mail/b`: the entry has no value"])
    #expect(account.rest.text == "2 entries" && account.lostValues == 0)
  }

  @Test("a setting, and a remark on a value, is no refused value") func settings() {
    let remark = Source.field("value as others read it", .setting, [0x61], refusal: "it is read otherwise")
    let fields = [Source.field("A", .secret, [0x61]), remark, Source.field("icon", .setting, [0x61])]
    let account = ImportAccount(PlannedVault().plan(Source.map([Source.entry(.value, title: "A", of: fields)])))
    #expect(account.groups.map(\.group) == [.value, .setting] && account.groups.last?.count == 2)
    #expect(
      account.lines.suffix(3) == [
        "  2 not imported, because they are settings or remarks",
        "not imported: `value as others read it` of `A`: it is read otherwise",
        "not imported: `icon` of `A`: it is a setting of the program that it comes from",
      ])
    #expect(account.rest.text == nil && account.lostValues == 0)
  }

  @Test("names the one-time secrets that are none, once for the same fault") func oneTime() {
    let entries = Source.map([
      Source.entry(.oneTime, title: "c", [("otpauth", .oneTime, "otpauth://totp/c?secret=!!!")]),
      Source.entry(.oneTime, title: "d", [("otpauth", .oneTime, "no code!")]),
      Source.entry(title: "e", [("Password", .password, "1"), ("totp", .oneTime, "no code!")]),
      Source.entry(.oneTime, title: "f", [("otpauth", .oneTime, "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP")]),
    ])
    var vault = PlannedVault()
    let plan = vault.plan(entries)
    let faults = [
      "`otpauth` of `c`, `d`: no valid one-time secret, so kept as a note",
      "`totp` of `e`: no valid one-time secret, so kept as a note",
    ]
    #expect(ImportAccount(plan).lines.suffix(2) == faults[...])
    #expect(ImportAccount(plan).report.contains("value of `c`; no valid one-time secret, so kept as a note\n"))
    vault.store(plan)
    #expect(ImportAccount(vault.plan(entries)).lines.suffix(2) == faults[...])
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

  @Test("tells which names a grant opens") func opened() throws {
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
