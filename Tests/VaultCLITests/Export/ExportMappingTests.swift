import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The mapping of items to entries of an export") struct ExportMappingTests {
  private typealias Items = ExportedItems

  @Test("makes one entry of a login, with the names of the format", arguments: [ExportForm.kdbx, .bitwarden])
  func login(form: ExportForm) throws {
    let item = try Items.item(
      "Bank/UBS", .password, "new", ["username": "ana", "url": "https://ubs.example/", "branch": "Bern"],
      versions: ["old"])
    let entry = try #require(ExportMapping.map([item], form).first)
    #expect(entry.entry.facts.folder == ["Bank"] && entry.entry.facts.title == "UBS")
    let names = form == .kdbx ? ["Password", "UserName", "URL"] : ["password", "username", "uri"]
    #expect(
      Items.fields(entry) == [
        "title [title] UBS", "folder [folder] Bank", "\(names[0]) [password] new", "branch [text] Bern",
        "\(names[2]) [url] https://ubs.example/", "\(names[1]) [username] ana", "created [created] 1000",
        "modified [modified] 2000", "\(names[0]) [old-password] old",
      ])
    #expect(Items.lost([item], form).isEmpty)
  }

  @Test("puts together what an import has divided") func divided() throws {
    let from = ["source": "kdbx:1", "source-id": String(repeating: "a", count: 32), "import": "x"]
    let items = try [
      Items.item("a/UBS", .password, "p", from.merging(["title": "UBS"]) { $1 }),
      Items.item("a/UBS/Notes", .note, "text", from.merging(["source-field": "Notes"]) { $1 }),
      Items.item("a/UBS/PIN", .password, "1", from.merging(["source-field": "PIN"]) { $1 }, versions: ["0"]),
      Items.item("a/UBS/f.bin", .blob, [0, 255], from.merging(["source-field": "f.bin"]) { $1 }),
      Items.item("a/UBS/otp", .totp, "otpauth://totp/a?secret=JBSWY3DP", from.merging(["source-field": "otp"]) { $1 }),
      Items.item("a/UBS/other", .password, "mine"),
    ]
    let entries = ExportMapping.map(items, .kdbx)
    #expect(entries.map(\.entry.facts.title) == ["UBS", "other"])
    #expect(entries[0].entry.facts.id == String(repeating: "a", count: 32) && entries[0].items.count == 5)
    #expect(Items.lost(items, .kdbx).isEmpty)
    #expect(Set(Items.imported(entries).map(\.name)) == Set(items.map(\.name)))
    // A Bitwarden export has no files, and its own names.
    #expect(
      Items.lost(items, .bitwarden) == [
        "a/UBS/Notes: the name, which an import makes `a/UBS/notes`",
        "a/UBS/otp: the name, which an import makes `a/UBS/totp`",
      ])
    #expect(items.filter { ExportPlace.reason($0, .bitwarden) != nil }.map(\.name.text) == ["a/UBS/f.bin"])
    #expect(ExportMapping.map(items, .bitwarden).flatMap(\.items).count == 5)
  }

  @Test("leaves apart what would lose something beside another item") func apart() throws {
    let items = try [
      Items.item("a", .password, "p"), Items.item("a/otp", .totp, "otpauth://totp/a?secret=JBSWY3DP"),
      Items.item("a/pin", .password, "1", ["source-field": "pin", "owner": "ana"]),
      Items.item("a/soon", .password, "1", ["source-field": "soon"], expires: PlannedSource.now + 1),
    ]
    let entries = ExportMapping.map(items, .kdbx)
    #expect(entries.map(\.items.count) == [2, 1, 1])
    #expect(Items.lost(items, .kdbx).isEmpty)
  }

  @Test("an entry without a main item has the attributes of one item beside it") func headless() throws {
    let items = try [
      Items.item("a/Notes", .note, "n", ["source-field": "Notes", "title": "a", "username": "ana"]),
      Items.item("a/PIN", .password, "1", ["source-field": "PIN"]),
    ]
    let entries = ExportMapping.map(items, .kdbx)
    #expect(entries.count == 1 && entries[0].entry.facts.title == "a" && entries[0].items.count == 2)
    #expect(Items.lost(items, .kdbx).isEmpty)
  }

  @Test("an entry without a main item has no expiry, so an item with one is an entry of its own")
  func headlessExpiry() throws {
    let items = try [
      Items.item("a/Notes", .note, "n", ["source-field": "Notes", "x": "y"], expires: PlannedSource.now + 1),
      Items.item("a/PIN", .password, "1", ["source-field": "PIN"]),
      Items.item("b/PIN", .password, "1", ["source-field": "PIN"], expires: 1000),
    ]
    #expect(ExportMapping.map(items, .kdbx).map(\.entry.facts.title) == ["a", "Notes", "PIN"])
    #expect(Items.lost(items, .kdbx).isEmpty)
  }

  @Test(
    "an item of somebody else is an entry of its own, and gives no other entry anything",
    arguments: [ExportForm.kdbx, .bitwarden])
  func foreign(form: ExportForm) throws {
    let marks = [
      "source": form == .kdbx ? "kdbx:1" : "bitwarden:b.json", "source-id": String(repeating: "a", count: 32),
    ]
    func item(
      _ name: String, _ kind: ItemKind, _ value: String, _ more: [String: String] = [:], isOwn: Bool = true
    ) throws -> ExportedItem {
      try Items.item(name, kind, value, marks.merging(more) { $1 }, isOwn: isOwn)
    }
    let code = "otpauth://totp/a?secret=JBSWY3DP"
    let evil = ["url": "https://evil.example/", "username": "x"]
    // Beside a main item, as the main item of others, and at the head of an entry without one.
    let items = try [
      item("a", .password, "p", ["url": "https://a.example/"]),
      item("a/notes", .note, "evil note", isOwn: false), item("a/Notes", .note, "evil note", isOwn: false),
      item("a/otp", .totp, code, isOwn: false), item("a/totp", .totp, code, isOwn: false),
      item("a/uri", .password, "https://evil.example/", ["source-field": "uri"], isOwn: false),
      item("b", .password, "evil", evil, isOwn: false), item("b/otp", .totp, code, ["source-field": "otp"]),
      item("c/PIN", .password, "1", ["source-field": "PIN"]),
      item("c/URL", .password, "2", evil.merging(["source-field": "URL", "title": "c"]) { $1 }, isOwn: false),
    ].sorted { $0.name < $1.name }
    let entries = ExportMapping.map(items, form)
    #expect(entries.flatMap(\.items).count == items.count)
    for entry in entries {
      let isOwn = entry.items.contains { $0.item.isOwn }
      #expect(entry.items.count == 1 && entry.entry.facts.id.isEmpty == !isOwn)
      #expect(!isOwn || !Items.fields(entry).contains { $0.contains("evil") })
    }
    #expect(entries.prefix(3).map(\.entry.facts.title) == ["a", "b", "c"])
    #expect(Set(entries.dropFirst(3).map(\.entry.facts.title)) == ["notes", "Notes", "otp", "totp", "uri", "b", "URL"])
    // The names of the own items stay as they are.
    let own = Set(items.filter(\.isOwn).map(\.name.text))
    #expect(!Items.lost(items, .kdbx).contains { loss in own.contains { loss.hasPrefix("\($0): the name") } })
  }

  @Test("a title that an import has kept is exact, unless the item was renamed since") func titles() throws {
    func title(_ name: String) throws -> String {
      ExportMapping.map([try Items.item(name, .password, "p", ["title": "a/b"])], .kdbx)[0].entry.facts.title
    }
    #expect(try title("x/a∕b") == "a/b" && title("a∕b (2)") == "a/b" && title("other") == "other")
  }

  @Test("a title in an item of somebody else does not count") func foreignTitle() throws {
    let item = try Items.item("x/a∕b", .password, "p", ["title": "a/b"], isOwn: false)
    #expect(ExportMapping.map([item], .kdbx)[0].entry.facts.title == "a∕b")
  }

  @Test("every kind has a place", arguments: ItemKind.allCases) func kinds(kind: ItemKind) throws {
    let item = try Items.item("f/a", kind, Items.value(of: kind), kind == .wifi ? ["ssid": "a"] : [:])
    let lost = Items.lost([item], .kdbx)
    #expect(lost.isEmpty, "\(lost)")
    #expect(!Items.lost([item], .bitwarden).contains("f/a: the value itself"))
  }

  @Test("tells what no other program holds") func losses() throws {
    let past = try Items.item("old", .password, "p", expires: 1000)
    let item = try Items.item(
      "a", .apiKey, "k", ["tags": "x,y", "media-type": "text/plain"], expires: PlannedSource.now + 9,
      versions: ["1", "1", "2"], accessible: .always)
    #expect(Items.lost([item, past], .kdbx) == ["a: 1 earlier version", "a: the class always"])
    #expect(
      Items.lost([item, past], .bitwarden) == [
        "a: the kind api-key", "a: the expiry", "a: 1 earlier version", "a: the class always", "old: the expiry",
      ])
    let empty = try Items.item("n", .note, "")
    #expect(Items.lost([empty], .kdbx).isEmpty && ExportPlace.reason(empty, .kdbx) == nil)
    #expect(ExportPlace.reason(empty, .bitwarden) == "its value is empty, so an entry would say nothing")
  }

  @Test("no attribute takes the place of a field of the format") func reserved() throws {
    let item = try Items.item("a", .password, "p", ["Password": "x", "Title": "y", "HmacOtp-Secret": "z"])
    let fields = Items.fields(ExportMapping.map([item], .kdbx)[0])
    #expect(fields.contains("Password_ [text] x") && fields.contains("Password [password] p"))
    #expect(
      Items.lost([item], .kdbx) == [
        "a: the attribute HmacOtp-Secret", "a: the attribute Password", "a: the attribute Title",
      ])
  }

  @Test("a note of Bitwarden has no user name and no secret of one-time codes of its own") func note() throws {
    let from = ["source-field": "otp"]
    let items = try [
      Items.item("a", .note, "n", ["username": "ana", "url": "u", "x": "y"]),
      Items.item("a/otp", .totp, "otpauth://totp/a?secret=JBSWY3DP", from),
    ]
    let entry = try #require(ExportMapping.map(items, .bitwarden).first)
    #expect(Items.fields(entry).contains("username [text] ana") && Items.fields(entry).contains("url [text] u"))
    #expect(Items.fields(entry).contains("otp [secret] otpauth://totp/a?secret=JBSWY3DP"))
    #expect(Items.lost(items, .bitwarden).isEmpty && Items.lost(items, .kdbx).isEmpty)
  }

  @Test("a card that came from Bitwarden goes back as a card") func card() throws {
    let attributes = ["media-type": "application/json", "source": "bitwarden:b.json", "source-id": "i"]
    let card = try Items.item("Visa", .blob, #"{"number":"4","code":"1"}"#, attributes)
    let entry = ExportMapping.map([card], .bitwarden)[0].entry
    #expect(entry.facts.kind == .document && entry.facts.id == "i" && Items.lost([card], .bitwarden).isEmpty)
    let other = try Items.item("Visa", .blob, #"{"number":"4","more":"1"}"#, attributes)
    #expect(ExportMapping.map([other], .bitwarden)[0].entry.facts.kind == .note)
    let foreign = try Items.item("Visa", .blob, #"{"number":"4","code":"1"}"#, attributes, isOwn: false)
    #expect(ExportMapping.map([foreign], .bitwarden)[0].entry.facts.kind == .note)
  }
}
