import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The names of imported items") struct ImportNamingTests {
  private static func name(_ folder: [String], _ title: String, url: String? = nil, into: [String] = []) -> String {
    var naming = ImportNaming(into: into)
    let entry = ImportedEntry(.login, id: "", folder: folder, title: title, isTrashed: false, fieldCount: 0)
    return naming.place(entry, url: url).name.text
  }

  @Test(
    "are the folders and the title, without what no name can have",
    arguments: [
      ([], "GitHub", "GitHub"), (["Work", "Servers"], "db", "Work/Servers/db"), (["a/b"], "c/d", "a∕b/c∕d"),
      ([], "tab\there\u{7F}\u{85}", "tab_here__"), ([""], "x", "untitled/x"), (["."], "..", "untitled/untitled"),
      ([], "", "untitled"), ([], " ", " "), (["secret-service"], "x", "imported/secret-service/x"),
      (["Secret-service"], "x", "Secret-service/x"), ([], "secret-service", "imported/secret-service"),
    ] as [([String], String, String)])
  func spelled(folder: [String], title: String, name: String) {
    // A title alone names an item and no folder, unless other fields of the entry are items in that folder.
    #expect(Self.name(folder, title) == name)
  }

  @Test(
    "take the host of the URL in place of a missing title",
    arguments: [
      ("https://github.com/login", "github.com"), ("https://ana:pw@example.org:8443/x", "example.org"),
      ("http://[2001:db8::1]:80/", "[2001:db8::1]"), ("example.org/login", "example.org"), ("https://", "untitled"),
      ("/", "untitled"), ("https://../", "untitled"), ("", "untitled"),
    ])
  func hosts(url: String, name: String) {
    #expect(Self.name([], "", url: url) == name)
    #expect(Self.name([], "..", url: url) == name)
    #expect(Self.name([], "title", url: url) == "title")
  }

  @Test("are in the folder of an import") func into() {
    #expect(Self.name(["secret-service"], "x", into: ["old"]) == "old/secret-service/x")
  }

  @Test("have numbers if they are the same") func numbers() {
    var naming = ImportNaming()
    func next(_ title: String) -> String {
      let entry = ImportedEntry(.login, id: "", folder: [], title: title, isTrashed: false, fieldCount: 0)
      return naming.place(entry, url: nil).name.text
    }
    #expect(next("a") == "a" && next("a") == "a (2)" && next("a (2)") == "a (2) (2)" && next("a") == "a (3)")
    // Names are compared by their bytes.
    #expect(next("\u{FC}") == "\u{FC}")
    #expect(next("u\u{308}").utf8.elementsEqual("u\u{308}".utf8))
  }

  @Test("are cut with a hash if they are too long, and stay different and in their folder") func cut() throws {
    let deep = (0..<64).map { "folder\($0)" }
    let long = String(repeating: "é", count: 400)
    var seen: Set<String> = []
    for (folder, title) in [
      (deep, "a"), (deep, "b"), (deep.dropLast() + ["other"], "a"), ([long], "a"), ([], long), ([long], long),
      ([], long + "x"), (Array(repeating: long, count: 64), "t"),
    ] {
      let name = Self.name(folder, title, into: ["in", "to"])
      #expect((try? ItemName(name)) != nil, "\(name)")
      #expect(name.hasPrefix("in/to/") && name.contains("~"))
      #expect(seen.insert(name).inserted)
    }
    #expect(Self.name([], String(repeating: "x", count: 500)).utf8.count == 500)
  }

  @Test("lose their number again", arguments: [("a (2)", "a"), ("a/b (17)", "a/b")])
  func unnumbered(name: String, plain: String) { #expect(ImportNaming.unnumbered(name)?.text == plain) }

  @Test("have no number", arguments: ["a", "a(2)", "a (1)", "a (02)", "a (x)", "a ()", " (2)", "a (2) "])
  func plain(name: String) { #expect(ImportNaming.unnumbered(name) == nil) }
}
