import Foundation
import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("A list") struct ListingTests {
  @Test("names are the tree of their folders")
  func tree() {
    let names = ["a", "a-b", "a/b/c", "a/b/d", "a/e", "iot/cellar/pump", "web"]
    let tree = NameTree(names)
    #expect(
      tree.rows.map(\.text) == [
        "a", "a-b", "a/", "├── b/", "│   ├── c", "│   └── d", "└── e", "iot/", "└── cellar/", "    └── pump", "web",
      ])
    #expect(tree.rows.compactMap(\.item) == Array(names.indices))
    #expect(NameTree([]).rows.isEmpty)
  }

  @Test("an item of the Secret Service is shown with its label, because its name is only a number") func label() {
    func item(_ label: String?) -> Wire.Item {
      Wire.Item(
        name: "secret-service/login/43f698f2c8d405bc", kind: "password", attributes: [:], accessible: "when-unlocked",
        require: "none", reuse: 60, version: 1, created: 0, modified: 0, size: 1,
        keyring: label.map {
          Wire.Keyring(id: "43f698f2c8d405bc", order: "1", label: $0, contentType: "text/plain", attributes: [])
        })
    }
    #expect(Listing.label(item("My server")) == " `My server`" && Listing.label(item("a\nb")) == " `a\\u{a}b`")
    #expect(Listing.label(item("")).isEmpty && Listing.label(item(nil)).isEmpty)
  }

  @Test("a name that no item can have is only a name")
  func foreign() {
    #expect(NameTree(["", "/", "//"]).rows.map(\.text) == ["", "/", "├── ", "└── /", "    └── "])
    let deep = NameTree([String(repeating: "a/", count: 100_000)])
    #expect(deep.rows.count == 32 && deep.rows[31].item == 0)
  }

  @Test("every item is in it, under its name")
  func whole() {
    let parts = ["a", "b", "a-", "é", "日"]
    var names: Set<String> = []
    for _ in 0..<300 {
      names.insert((0..<Int.random(in: 1...5)).map { _ in parts[Int.random(in: 0..<5)] }.joined(separator: "/"))
    }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var path: [String] = []
    var found: [String] = []
    for row in NameTree(sorted).rows {
      let lead = row.text.unicodeScalars.prefix { " │├└─".unicodeScalars.contains($0) }
      let name = String(row.text.dropFirst(lead.count))
      path = path.prefix(lead.count / 4) + [name]
      if row.item != nil { found.append(path.joined()) }
    }
    #expect(found == sorted)
  }

  @Test("an empty list of unused items says whether any item is that old")
  func unused() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    func screen(_ time: String) throws -> String {
      let terminal = try Terminal(sandbox, ["list", "--unused", time])
      #expect(try terminal.wait() == 0)
      return terminal.screen
    }
    #expect(try screen("1d").contains("no item is as old as that"))
    // The item is read after the second in which it was made.
    try wait(for: "the next second") { try !sandbox.must(["list", "--unused", "1s"]).isEmpty }
    try sandbox.must(["get", "web"])
    #expect(try screen("1s").contains("every item that was there by then was read or used since"))
  }

  @Test("on a terminal it is that tree, and with --flat and in a pipe whole names")
  func terminal() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["iot/lamp", "iot/cellar/pump"] { try sandbox.must(["set", name], stdin: "v") }
    func shown(_ arguments: [String], _ output: String? = nil) throws -> [String] {
      let terminal = try Terminal(sandbox, arguments, stdout: output, environment: ["NO_COLOR": "1"])
      #expect(try terminal.wait() == 0)
      return terminal.screen.split(separator: "\r\n").map { String($0.replacing(#/ +(password|KIND) .*/#, with: "")) }
    }
    #expect(try shown(["list"]) == ["NAME", "iot/", "├── cellar/", "│   └── pump", "└── lamp", "web"])
    #expect(try shown(["list", "iot/cellar"]) == ["NAME", "iot/", "└── cellar/", "    └── pump"])
    #expect(try shown(["list", "--flat"]) == ["NAME", "iot/cellar/pump", "iot/lamp", "web"])
    let file = sandbox.home + "/output"
    #expect(try shown(["list"], file) == [])
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "iot/cellar/pump\niot/lamp\nweb\n")
  }

  @Test("get of a folder lists it on the terminal's standard error, and leaves standard output empty")
  func folder() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["iot/lamp", "iot/cellar/pump"] { try sandbox.must(["set", name], stdin: "v") }
    let file = sandbox.home + "/output"
    let terminal = try Terminal(sandbox, ["get", "iot"], stdout: file)
    #expect(try terminal.wait() == 66)
    #expect(
      terminal.screen == "vault: `iot` is a folder, not an item; it has:\r\n  iot/cellar/\r\n  iot/lamp\r\n",
      "\(terminal.screen)")
    #expect(try String(contentsOfFile: file, encoding: .utf8).isEmpty)
    for (arguments, way) in [
      (["mv", "iot", "home"], "`vault mv FROM/ TO/` moves it"),
      (["cp", "iot", "home"], "`vault cp FROM/ TO/` copies it"),
      (["rm", "iot"], "`vault rm FOLDER/` deletes all of it"),
    ] {
      let other = try Terminal(sandbox, arguments)
      try other.expect("vault: `iot` is a folder, not an item; \(way); it has:\r\n")
      #expect(try other.wait() == 66)
    }
    let outcome = try sandbox.run("get", "iot")
    #expect(outcome.status == 66 && outcome.errors == "vault: no item `iot`; see `vault list`\n")
    let lines = (0..<25).map { "{\"name\":\"many/\($0)\",\"value\":\"v\"}\n" }.joined()
    try sandbox.must(["set", "--batch"], stdin: lines)
    let many = try Terminal(sandbox, ["get", "many"])
    #expect(try many.wait() == 66)
    #expect(many.screen.contains("; `vault list` shows all of it; it has:\r\n"))
    #expect(many.screen.split(separator: "\r\n").count == 21)
  }

  @Test(
    "a person is told why nothing was found",
    arguments: [
      (["find", "owner=bo"], "nothing matches; the attributes are owner, room"),
      (["find", "onwer=ana"], "nothing matches, because no item has an attribute `onwer`; did you mean `owner`?"),
      (["find", "zip=1"], "nothing matches, because no item has an attribute `zip`; the attributes are owner, room"),
      (["find", "owner=ana", "smith"], #"nothing matches; if that is one value, write 'owner="ana smith"'"#),
      (["list", "nowhere"], "there is nothing in `nowhere`; see `vault list`"),
    ])
  func nothing(arguments: [String], said: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "web", "--update", "--keep-value", "--attr", "owner=ana", "--attr", "room=hall"])
    let file = sandbox.home + "/output"
    let terminal = try Terminal(sandbox, arguments, stdout: file)
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen == "vault: \(said)\r\n", "\(terminal.screen)")
    #expect(try String(contentsOfFile: file, encoding: .utf8).isEmpty)
  }

  @Test("words behind a predicate may be the rest of its value")
  func blanks() {
    #expect(NothingFound.valueWithBlanks("owner=ana smith") == #"owner="ana smith""#)
    #expect(NothingFound.valueWithBlanks("kind=note room~living room kind=note") == #"room~"living room""#)
    #expect(NothingFound.valueWithBlanks("owner!=a b c") == #"owner!="a b c""#)
    for query in ["owner=ana", "owner=ana kind=note", "smith owner=ana", #"owner="ana smith" x"#, "size>1 a", ""] {
      #expect(NothingFound.valueWithBlanks(query) == nil, "\(query)")
    }
    #expect(NothingFound.text("a", keys: []) == "nothing matches; no item has attributes")
  }

  @Test("of a damaged store has the items that can be read and is a failure, however it is asked for and shown")
  func damaged() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    for name in ["web", "a", "b"] { try sandbox.must(["set", name], stdin: "v") }
    try sandbox.stopDaemon()
    try sandbox.editStore("UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = (SELECT max(id) FROM heads)")
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let said = "vault: the store is damaged: items may be missing from this list; `vault verify` says what is damaged\n"
    for words in [
      ["list"], ["list", "--expiring"], ["find", "name=a"], ["find", "name=b"],
      ["find", "kind=password", "--limit", "1"],
    ] {
      for form in [[], ["--json"]] {
        let outcome = try sandbox.run(words + form)
        #expect(outcome.status == 65 && outcome.errors == said, "\(words) \(form) \(outcome)")
      }
    }
    let lines = try sandbox.run(["list", "--json"]).output.split(separator: "\n")
    #expect(lines.count == 2 && lines.allSatisfy { !$0.contains(#""name":"b""#) }, "\(lines)")
  }
}
