import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("An export that is imported into its vault again") struct UnchangedExportTests {
  private typealias Items = ExportedItems

  private static let forms = [ExportForm.kdbx, .bitwarden]

  /// A plan of the import of an export of all items into the vault that has them.
  private static func plan(
    _ items: [ExportedItem], _ form: ExportForm, _ terms: ImportTerms = ImportTerms(),
    changed: (inout SourceEntry) -> Void = { _ in }
  ) -> ImportPlan {
    var vault = PlannedVault()
    for item in items {
      vault.put(item.facts, PlannedSource.field("value", .password, item.value.withBytes { $0.array }))
    }
    let sorted = items.sorted { $0.name < $1.name }
    let entries = ExportMapping.map(sorted, form).map { exported in
      var entry = exported.entry
      changed(&entry)
      return entry
    }
    return vault.plan(PlannedSource.map(entries), terms)
  }

  /// True if the plan finds every item, and would change nothing.
  private static func isKnown(_ items: [ExportedItem], _ form: ExportForm) -> Bool {
    [ImportTerms(), ImportTerms(update: true), ImportTerms(keepBoth: true)].allSatisfy { terms in
      let plan = plan(items, form, terms)
      let found = Set(plan.entries.flatMap(\.names).compactMap { $0 })
      let held = Set(items.filter { ExportPlace.reason($0, form) == nil }.map(\.name.text))
      return plan.steps.isEmpty && plan.clashing == 0 && found == held
        && ImportAccount(plan).groups.allSatisfy { [.known, .setting, .refused].contains($0.group) }
    }
  }

  @Test("is there already, whatever kinds, attributes, expiries and versions the items have", arguments: forms)
  func everything(form: ExportForm) throws {
    var items = try ItemKind.allCases.enumerated().map { number, kind in
      try Items.item(
        "kinds/\(kind.rawValue)", kind, Items.value(of: kind),
        (kind == .wifi ? ["ssid": "a"] : [:]).merging(["username": "ana", "owner": "x\(number)"]) { $1 },
        expires: number % 3 == 0 ? nil : PlannedSource.now + (number % 3 == 1 ? 1000 : -1000),
        versions: number % 2 == 0 ? ["old"] : [])
    }
    items += try [
      Items.item("web", .password, "p", ["url": "u", "url-2": "v", "tags": "x,y", "media-type": "text/plain"]),
      Items.item("web/otp", .totp, "JBSWY3DPEHPK3PXP"), Items.item("web/totp", .totp, "GEZDGNBVGY3TQOJQ"),
      Items.item("alone/otp", .totp, "jbsw y3dp ehpk 3pxp", ["issuer": "Example", "account": "ana"]),
      Items.item("numbers", .password, "p", Dictionary(uniqueKeysWithValues: (2...12).map { ("url-\($0)", "u\($0)") })),
      Items.item("reserved", .password, "p", ["Password": "x", "Title": "y", "HmacOtp-Secret": "z", "otp": "no"]),
      Items.item("note", .note, "n", ["username": "ana", "url": "u", "tags": "a"]),
      Items.item("empty", .note, "", ["owner": "ana"]), Items.item("bytes", .blob, [0, 255], ["media-type": "a/b"]),
      Items.item("open", .wifi, "", ["ssid": "open", "security": "nopass"]),
      Items.item("odd", .password, "p", ["uri": "u", "value": "v", "reuse": "r", "attr:x": "y", "attr:pin": "z"]),
      Items.item("odd note", .note, "n", ["uri": "https://a/", "value": "v", "reuse": "r", "attr:x": "y"]),
      Items.item("names", .password, "p", ["pin": "1", "api-key": "k", "Password": "x", "tokens-2": "y"]),
      Items.item("names/pin", .password, "2", ["source-field": "pin"]),
      Items.item("urls", .password, "p", ["url": "https://u:p@a/", "url-2": "https://u:p@b/", "code": "1"]),
      Items.item("codes", .password, "p", ["code": "otpauth://totp/a?secret=JBSWY3DP"]),
      Items.item("note/pin", .note, "n", ["pin": "1"]), Items.item("codes/pin", .totp, "JBSWY3DP", ["pin": "1"]),
      Items.item("headless/Notes", .note, "n", ["source-field": "Notes", "title": "headless", "pin": "1"]),
    ]
    for item in items { #expect(Self.isKnown([item], form), "\(item.name)") }
    #expect(Self.isKnown(items, form))
  }

  @Test("has the attributes for which no person can choose the names, in a database for another vault, too")
  func oddNames() throws {
    let attributes = ["uri": "u", "value": "v", "reuse": "r", "attr:x": "y"]
    let item = try Items.item("odd", .password, "p", attributes)
    let made = Items.imported(ExportMapping.map([item], .kdbx))
    #expect(made.count == 1 && made[0].attributes.filter { attributes[$0.key] != nil } == attributes)
    #expect(Items.lost([item], .kdbx).isEmpty)
    // Bitwarden's JSON does not tell attributes from other texts, and the export says so.
    let other = Items.imported(ExportMapping.map([item], .bitwarden)).map(\.plain.text)
    #expect(other == ["odd", "odd/attr:x", "odd/reuse", "odd/uri", "odd/value"])
    #expect(Items.lost([item], .bitwarden).count == 4)
  }

  @Test("is there already if it is an SSH key in PEM, which programs of the web use, too", arguments: forms)
  func sshKey(form: ExportForm) throws {
    let item = try Items.item("git", .sshKey, Items.value(of: .sshKey), ["publicKey": "ssh-ed25519 AAAA"])
    #expect(Self.isKnown([item], form))
    let entries = ExportMapping.map([item], form).map(\.entry)
    #expect(PlannedSource.map(entries).flatMap(\.items).map(\.kind) == [.sshKey])
  }

  @Test("is there already if an import has made the items, and some were moved or renamed since", arguments: forms)
  func imported(form: ExportForm) throws {
    let id = String(repeating: "a", count: 32)
    let from = ["source": "kdbx:1", "source-id": id, "import": "x", "source-created": "2001-09-09T01:46:40Z"]
    func item(
      _ name: String, _ kind: ItemKind, _ value: String, field: String? = nil, title: String? = nil
    ) throws -> ExportedItem {
      var attributes = from
      attributes["source-field"] = field
      attributes["title"] = title
      return try Items.item(name, kind, value, attributes)
    }
    let items = try [
      item("a/U∕S", .password, "p", title: "U/S"), item("a/U∕S/Notes", .note, "n", field: "Notes"),
      item("a/U∕S/otp", .totp, "otpauth://totp/a?secret=JBSWY3DP", field: "otp"),
      item("a/U∕S/Password", .password, "q", field: "Password"),
      item("a/U∕S (2)", .password, "second", title: "U/S"), item("new/name", .apiKey, "k", title: "old name"),
      item("b/Notes", .note, "n", field: "Notes", title: "b"), item("b/PIN", .password, "1", field: "PIN"),
    ]
    #expect(Self.isKnown(items, form))
  }

  @Test("is there already under whatever name an import has given the one-time secret of an entry", arguments: forms)
  func oneTime(form: ExportForm) throws {
    let from = ["source": "pass:store", "source-id": "web/p1"]
    func secret(_ field: String, _ key: String) throws -> ExportedItem {
      let attributes = from.merging(["source-field": field]) { own, _ in own }
      return try Items.item("web/p1/\(field)", .totp, "otpauth://totp/p1?secret=\(key)", attributes)
    }
    let main = try Items.item("web/p1", .password, "p", from)
    #expect(try Self.isKnown([main, secret("otpauth", "JBSWY3DPEHPK3PXP")], form))
    #expect(try Self.isKnown([main, secret("code", "GEZDGNBV"), secret("otpauth", "JBSWY3DPEHPK3PXP")], form))
    // Another secret is another item.
    let plan = try Self.plan([main, secret("otpauth", "JBSWY3DPEHPK3PXP")], form) { entry in
      entry.fields = entry.fields.map { field in
        field.facts.role == .oneTime
          ? PlannedSource.field(field.facts.name, .oneTime, Array("otpauth://totp/p1?secret=GEZDGNBV".utf8)) : field
      }
    }
    #expect(plan.steps.map(\.name.text) == ["web/p1/\(form.oneTime)"])
  }

  @Test("is there already even if it was stored by programs, in the vault's keyring", arguments: forms)
  func keyring(form: ExportForm) throws {
    let keyring = Wire.Keyring(
      id: "0123456789abcdef", order: "1", label: "Mail of Ana", contentType: "text/plain", attributes: [])
    var facts = try Items.item("secret-service/login/0123456789abcdef", .password, "p").facts
    facts.keyring = keyring
    let item = ExportedItem(try ItemName(facts.name), facts, isOwn: true, PlannedSource.buffer(Array("p".utf8)))
    #expect(Self.isKnown([item], form))
  }

  @Test("another value, expiry, kind or attribute is another content") func changed() throws {
    let item = try Items.item("a", .apiKey, "key", ["owner": "ana"], expires: 1000)
    func steps(_ change: @escaping (SourceField) -> SourceField?) -> Int {
      let plan = Self.plan([item], .kdbx, ImportTerms(update: true)) { $0.fields = $0.fields.compactMap(change) }
      return plan.steps.count
    }
    func text(_ field: SourceField, _ text: String, mark: String? = nil) -> SourceField {
      let facts = ImportedField(
        field.facts.name, field.facts.role, size: text.utf8.count, mark: mark ?? field.facts.mark)
      return SourceField(facts, PlannedSource.buffer(Array(text.utf8)))
    }
    #expect(steps { $0 } == 0)
    #expect(steps { $0.facts.role == .password ? text($0, "other") : $0 } == 1)
    #expect(steps { $0.facts.role == .expires ? text($0, "2000") : $0 } == 1)
    #expect(steps { $0.facts.name == "owner" ? text($0, "ben") : $0 } == 1)
    #expect(steps { $0.facts.role == .password ? text($0, "key", mark: "device-token") : $0 } == 1)
    // A property that the source leaves out does not count.
    #expect(steps { $0.facts.role == .expires ? nil : $0 } == 0)
    #expect(steps { $0.facts.role == .password ? text($0, "key", mark: "") : $0 } == 0)
  }

  @Test("attributes that sound like secrets come back as such from a database, and Bitwarden's export lists them")
  func attributes() throws {
    let item = try Items.item("a", .password, "p", ["pin": "1", "api-key": "", "owner": "ana"])
    let named = Items.imported(ExportMapping.map([item], .kdbx))
    #expect(named.map(\.name.text) == ["a"] && named[0].attributes["pin"] == "1")
    #expect(Items.lost([item], .kdbx) == ["a: the attribute api-key"])
    let beside = Items.imported(ExportMapping.map([item], .bitwarden))
    #expect(beside.map(\.name.text) == ["a", "a/pin"] && beside[0].attributes["pin"] == nil)
    #expect(Items.lost([item], .bitwarden) == ["a: the attribute api-key", "a: the attribute pin"])
    let marks = ExportMapping.map([item], .kdbx)[0].entry.fields.filter { $0.facts.mark != nil }
    #expect(marks.map(\.facts.name) == ["pin"] && marks.map(\.facts.mark) == [ImportedField.attribute])
  }

  @Test("an expired item comes back as one from a database, and Bitwarden's export lists the expiry") func expired()
    throws
  {
    let item = try Items.item("a", .password, "p", expires: 1000)
    func expiry(_ form: ExportForm) -> Int64? { Items.imported(ExportMapping.map([item], form)).first?.expires }
    #expect(expiry(.kdbx) == 1000 && expiry(.bitwarden) == nil)
    #expect(Items.lost([item], .kdbx).isEmpty && Items.lost([item], .bitwarden) == ["a: the expiry"])
  }

  @Test("an item that requires a proof is compared once the proof is there") func requirement() throws {
    var facts = try Items.item("a", .password, "p").facts
    facts.require = "user-presence"
    let item = ExportedItem(try ItemName("a"), facts, isOwn: true, PlannedSource.buffer(Array("p".utf8)))
    #expect(Self.isKnown([item], .kdbx))
  }

  @Test("a new value keeps a kind that the source does not tell, and notes the expiry before") func updated() throws {
    let item = try Items.item("a", .apiKey, "key", expires: 1000)
    let plan = Self.plan([item], .bitwarden, ImportTerms(update: true)) { entry in
      entry.fields = entry.fields.map { field in
        field.facts.role == .password ? PlannedSource.field("password", .password, Array("new".utf8)) : field
      }
    }
    let sets = plan.steps[0].sets(number: 0, run: "run", isDivided: false)
    #expect(sets.map(\.item.kind) == [nil] && plan.steps[0].kind == .apiKey)
    let attributes = plan.steps[0].attributes(run: "run")
    #expect(attributes["import-replaced"] == "1" && attributes["import-replaced-kind"] == nil)
    #expect(attributes["import-replaced-expires"] == "1970-01-01T00:16:40Z")
  }
}
