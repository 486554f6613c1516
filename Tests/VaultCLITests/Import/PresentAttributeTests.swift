import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("Texts that the vault has as attributes, and of which an import would make items") struct PresentAttributeTests {
  private typealias Source = PlannedSource

  private static let id = "0aa0bb11-2222-4333-8444-555566667777"

  /// A login with a text.
  private static func login(
    _ password: String = "p", _ name: String = "pin", _ text: String = "1234", role: ImportedField.Role = .text
  ) -> [MappedEntry] {
    Source.map([Source.entry(id: id, title: "a", [("Password", .password, password), (name, role, text)])])
  }

  /// A vault with a login of these attributes.
  private static func vault(_ attributes: [String: String]) -> PlannedVault {
    var vault = PlannedVault()
    vault.put("a", .password, attributes, Source.field("Password", .password, Array("p".utf8)))
    return vault
  }

  private static func names(_ plan: ImportPlan) -> [String] { plan.steps.map(\.name.text) }

  private static let every = [ImportTerms(), ImportTerms(update: true), ImportTerms(keepBoth: true)]

  @Test("are there already, under any number of the same name, and are no item of the account")
  func known() throws {
    for key in ["pin", "pin-2", "pin_"] {
      for terms in Self.every {
        let plan = Self.vault([key: "1234"]).plan(Self.login(), terms)
        #expect(plan.steps.isEmpty && plan.clashing == 0 && plan.entries[0].names == ["a", nil])
        let account = ImportAccount(plan)
        #expect(account.groups.map(\.group) == [.known] && account.report.contains("pin, 4 bytes: already there, `a`"))
      }
    }
    let url = Self.login("p", "uri", "https://u:p@a/", role: .url)
    #expect(Self.vault(["url": "https://u:p@a/"]).plan(url).steps.isEmpty)
    #expect(Self.names(Self.vault(["uri": "https://u:p@a/"]).plan(url)) == ["a/uri"])
  }

  @Test(
    "are not there with another value or name, or if the source protects them",
    arguments: [
      ["pin": "1235"], ["pin": "12345"], ["pin": ""], ["code": "1234"], ["pins": "1234"], ["Pin": "1234"], [:],
    ])
  func others(attributes: [String: String]) {
    for terms in Self.every {
      let plan = Self.vault(attributes).plan(Self.login(), terms)
      #expect(Self.names(plan) == ["a/pin"] && plan.clashing == 0)
    }
  }

  @Test("are not there if the source protects them, or has earlier values") func protected() {
    let vault = Self.vault(["pin": "1234"])
    #expect(Self.names(vault.plan(Self.login(role: .secret))) == ["a/pin"])
    let fields = [
      Source.field("Password", .password, Array("p".utf8)), Source.field("pin", .text, Array("1234".utf8)),
      Source.field("pin", .oldField, Array("1".utf8)),
    ]
    #expect(Self.names(vault.plan(Source.map([Source.entry(.login, title: "a", of: fields)]))) == ["a/pin"])
  }

  @Test("stay there while the item gets a new version, and an item beside it has none of them") func changed() {
    let vault = Self.vault(["pin": "1234"])
    let entries = Self.login("new")
    let plan = vault.plan(entries)
    #expect(plan.steps.isEmpty && plan.clashing == 1)
    let update = vault.plan(entries, ImportTerms(update: true))
    #expect(Self.names(update) == ["a"] && update.steps[0].attributes(run: "run")["pin"] == "1234")
    #expect(Self.names(vault.plan(entries, ImportTerms(keepBoth: true))) == ["a (2)", "a/pin"])
  }

  @Test(
    "are not there in an item that others have made or written",
    arguments: [("user:5101", "user:1000"), ("user:1000", "user:5101"), (nil, nil)] as [(String?, String?)])
  func strangers(creator: String?, writer: String?) {
    let password = Source.field("Password", .password, Array("p".utf8))
    let attributes = ["source": "csv:file", "source-id": Self.id, "pin": "1234"]
    // The item of the very name is one of others.
    var taken = PlannedVault()
    taken.put("a", .password, attributes, password, creator: creator, writer: writer)
    #expect(taken.plan(Self.login()).steps.isEmpty && taken.plan(Self.login()).blocked(by: .others) == 1)
    #expect(Self.names(taken.plan(Self.login(), ImportTerms(keepBoth: true))) == ["a (2)", "a/pin"])
    // Their item looks like the one of the entry, which is there without the attribute.
    var planted = Self.vault([:])
    for name in ["0", "a (2)", "a/pin (2)"] {
      planted.put(name, .password, attributes, password, creator: creator, writer: writer)
    }
    for terms in Self.every { #expect(Self.names(planted.plan(Self.login(), terms)) == ["a/pin"]) }
  }

  @Test("are items of their own in a second import if the first one has made them") func twice() {
    var vault = PlannedVault()
    vault.store(vault.plan(Self.login()))
    let plan = vault.plan(Self.login())
    #expect(plan.steps.isEmpty && plan.entries[0].names == ["a", "a/pin"])
  }
}
