import Testing
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("The lines of an export") struct ExportLinesTests {
  private typealias Items = ExportedItems

  private static let values = [
    "plain", "", " two  words ", "it's", #"'"\$`"#, "line\nline\n", "$HOME ${HOME} $(id)", "\\", "🔑 ü", "a#b", "\t\r",
    "vault:x", "a\\\nb", "'", "!x",
  ]

  @Test("items that are left out for the same reason are told together") func leftOut() {
    var account = ExportAccount()
    for name in ["a", "b"] { account.leaveOut(name, "it is in the trash") }
    account.leaveOut("c", "it is a key that is never read")
    #expect(
      account.lines == [
        "left out: `a`, `b`: each is in the trash", "left out: `c`: it is a key that is never read",
      ])
  }

  @Test("a shell reads back every value exactly", arguments: ["/bin/sh", "/bin/bash"])
  func shell(path: String) throws {
    let items = try Self.values.enumerated().map { number, value in
      try Items.item("owm/value.\(number)", .note, value)
    }
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let names = try EnvironmentNames(items.map { ($0.name, $0.facts, $0.isOwn) })
    let text = EnvironmentLines.text(items, names).text() ?? ""
    try sandbox.write(text, to: "values.env")
    for (number, value) in Self.values.enumerated() {
      let script = #". '\#(sandbox.home)/values.env' && printf '%s.' "$OWM_VALUE_\#(number)""#
      #expect(try sandbox.run("-c", script, program: path).output == value + ".")
    }
  }

  @Test(
    "the name of a variable is that of the item, in capital letters",
    arguments: [("owm/appid", "OWM_APPID"), ("a.b-c d", "A_B_C_D"), ("1st", "_1ST"), ("ü", "__"), ("A_b", "A_B")])
  func variables(name: String, variable: String) throws {
    #expect(EnvironmentNames.whole(try ItemName(name)) == variable)
  }

  @Test("items with the same variable are refused by name") func clash() throws {
    let items = try ["a/b", "c", "a.b"].map { try Items.item($0) }.map { ($0.name, $0.facts, $0.isOwn) }
    do throws(Failure) {
      _ = try EnvironmentNames(items)
      Issue.record("it was not refused")
    } catch {
      #expect(error.exit == .invalid && error.event == "`a/b` and `a.b` would both be A_B")
    }
    #expect(throws: Never.self) { _ = try EnvironmentNames(Array(items.prefix(2))) }
  }

  @Test("an item that an import has made of a variable gets that variable back, if no other item has it")
  func imported() throws {
    func item(_ name: String, id: String, _ source: String = "env:.env") throws -> ExportedItem {
      try Items.item(name, .password, "secret", ["source": source, "source-id": id])
    }
    let items = try [
      item("env/API_KEY", id: "env/API_KEY"), item("env/lower_case", id: "env/lower_case"),
      item("into/env/app/X", id: "env/app/X", "dotfiles:home"), item("env/a/TWICE", id: "env/a/TWICE"),
      item("env/b/TWICE", id: "env/b/TWICE"), item("env/renamed", id: "env/OLD"), item("other/Y", id: "env/Y", "csv:f"),
    ]
    let names = try EnvironmentNames(items.map { ($0.name, $0.facts, $0.isOwn) })
    #expect(
      items.map { names.variable(of: $0.name) } == [
        "API_KEY", "lower_case", "X", "ENV_A_TWICE", "ENV_B_TWICE", "ENV_RENAMED", "OTHER_Y",
      ])
    #expect(EnvironmentLines.losses(of: items[0], names).isEmpty)
    #expect(EnvironmentLines.losses(of: items[3], names).map(\.what) == ["the exact name"])
  }

  @Test("an item of somebody else chooses no variable, and takes none away from an item of the exporter's own")
  func foreign() throws {
    func item(_ name: String, id: String? = nil, isOwn: Bool = false) throws -> ExportedItem {
      let marks = id.map { ["source": "env:.env", "source-id": "env/\($0)"] } ?? [:]
      return try Items.item(name, .password, "secret", marks, isOwn: isOwn)
    }
    let items = try [
      item("env/DB_PASSWORD", id: "DB_PASSWORD", isOwn: true), item("shared/DB_PASSWORD", id: "DB_PASSWORD"),
      item("shared/LD_PRELOAD", id: "LD_PRELOAD"), item("shared/PATH", id: "PATH"), item("LD_PRELOAD"), item("path"),
      item("git/ssh-command"), item("own/a", isOwn: true), item("own.a"), item("shared/x"), item("shared.x"),
      item("PATH", isOwn: true), item("DB_PASSWORD"),
    ]
    for items in [items, items.reversed()] {
      let names = try EnvironmentNames(items.map { ($0.name, $0.facts, $0.isOwn) })
      let variables = Dictionary(
        uniqueKeysWithValues: items.compactMap { item in names.variable(of: item.name).map { (item.name.text, $0) } })
      #expect(
        variables == [
          "env/DB_PASSWORD": "DB_PASSWORD", "shared/DB_PASSWORD": "SHARED_DB_PASSWORD",
          "shared/LD_PRELOAD": "SHARED_LD_PRELOAD", "shared/PATH": "SHARED_PATH", "own/a": "OWN_A", "PATH": "PATH",
        ])
      let reasons = Dictionary(uniqueKeysWithValues: names.leftOut.map { ($0.name.text, $0.reason) })
      #expect(
        reasons.mapValues { $0.replacing("somebody else has made or written it, and ", with: "") } == [
          "LD_PRELOAD": "LD_PRELOAD changes how programs run", "path": "PATH changes how programs run",
          "git/ssh-command": "GIT_SSH_COMMAND changes how programs run",
          "own.a": "another item is OWN_A, too", "shared/x": "another item is SHARED_X, too",
          "shared.x": "another item is SHARED_X, too", "DB_PASSWORD": "another item is DB_PASSWORD, too",
        ])
      let text = EnvironmentLines.text(items, names).text() ?? ""
      #expect(text.split(separator: "\n").count == variables.count && !text.contains("GIT_"))
    }
  }

  @Test("a kind is lost only if the value does not tell it") func kinds() throws {
    func lost(_ kind: ItemKind, _ value: String) throws -> [String] {
      let item = try Items.item("env/A", kind, value, ["source": "env:.env", "source-id": "env/A"])
      return EnvironmentLines.losses(of: item, try EnvironmentNames([(item.name, item.facts, true)])).map(\.what)
    }
    #expect(try lost(.note, "two\nlines").isEmpty && lost(.password, "secret").isEmpty)
    #expect(try lost(.note, "one line") == ["the kind note"] && lost(.apiKey, "k") == ["the kind api-key"])
  }

  @Test("a value that is not text, or has a NUL, is none for a variable") func binary() throws {
    #expect(try !EnvironmentLines.canHold(Items.item("a", .blob, [255])))
    #expect(try !EnvironmentLines.canHold(Items.item("a", .blob, [65, 0])))
    #expect(try EnvironmentLines.canHold(Items.item("a", .blob, [65])))
  }

  @Test("the lines of JSON have the source of an item, and nothing of an import that only its own vault can take back")
  func importMarks() throws {
    let marks = Dictionary(uniqueKeysWithValues: ImportMark.ofRun.map { ($0, "1") })
    let item = try Items.item("a", .password, "x", marks.merging(["source": "csv:f"]) { own, _ in own })
    let text = BatchLines.text([item]).text() ?? ""
    #expect(text.contains(#""attributes":{"source":"csv:f"}"#) && !text.contains("import"))
  }

  @Test("the lines of JSON are lines of a batch, with all that an item has") func batch() throws {
    let items = try [
      Items.item("a/b", .apiKey, "k\\\"", ["owner": "ana", "x": "ü"], expires: 4_000_000_000, accessible: .always),
      Items.item("bin", .blob, [0, 255]), Items.item("empty", .note, ""),
      Items.item("otp", .totp, "JBSWY3DPEHPK3PXP"),
    ]
    let text = BatchLines.text(items).text() ?? ""
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == items.count + 1 && lines.last == "")
    for (number, item) in items.enumerated() {
      let line = try BatchLine.read(PlannedSource.buffer(Array(lines[number].utf8)), number: 1, BatchTerms())
      #expect(line.name == item.name && line.item.kind == item.facts.kind)
      #expect(line.item.attributes ?? [:] == item.facts.attributes && line.item.expires == item.facts.expires)
      #expect(line.item.accessible == item.facts.accessible && line.item.require == nil)
      let isSame =
        switch line.value {
        case .some(let value): value.isSame(as: item.value)
        case .none: false
        }
      #expect(isSame)
    }
  }

  @Test("a line of JSON has no attribute by which an import knows its items") func marks() throws {
    let marks = Dictionary(uniqueKeysWithValues: ImportMark.keys.map { ($0, "x") })
    let kept = ["title": "a", "source-created": "2001-09-09T01:46:40Z", "imported": "yes"]
    for (attributes, expected) in [(marks.merging(kept) { $1 }, kept), (marks, [:])] {
      let text = BatchLines.text([try Items.item("a", .password, "p", attributes)]).text() ?? ""
      let line = try BatchLine.read(PlannedSource.buffer(Array(text.dropLast().utf8)), number: 1, BatchTerms())
      #expect(line.item.attributes ?? [:] == expected)
    }
  }
}
