import Foundation
import Testing
import VaultTesting

@Suite("Copies of items, and secrets that are drawn for nobody") struct CopyTests {
  private static let password = "correct horse battery"

  private func withClient(_ body: (Sandbox, WireClient) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    try body(sandbox, try sandbox.client())
  }

  /// Returns the described facts of an item, except its name, version and times.
  private func facts(_ name: String, _ client: WireClient) throws -> NSDictionary {
    var item = try #require(try client.call("Show", ["name": name]).parameters["item"] as? WireClient.Message)
    for key in ["name", "version", "created", "modified"] { item[key] = nil }
    return item as NSDictionary
  }

  @Test("a copy has the value and all that is said about it, and the source stays") func whole() throws {
    try withClient { _, client throws in
      let large = String(repeating: "0123456789abcdef", count: 1 << 16)
      let items: [(String, WireClient.Message)] = [
        ("key", ["value": "k", "kind": "api-key", "attributes": ["owner": "ana"], "expires": 4_000_000_000]),
        ("net", ["value": "correct horse", "kind": "wifi", "attributes": ["ssid": "net"], "accessible": "always"]),
        ("large", ["value": large, "kind": "note", "accessible": "after-first-unlock", "reuse": 90]),
        ("bytes", ["data": "AAECAw==", "kind": "blob"]), ("empty", ["value": "", "kind": "note"]),
      ]
      for (name, more) in items {
        #expect(try client.call("Set", ["name": name, "value": "old value"]).error == nil)
        #expect(try client.call("Set", more.merging(["name": name, "update": true]) { $1 }).error == nil)
        let before = try facts(name, client)
        let copied = try client.call("Copy", ["from": name, "to": "copies/\(name)"])
        #expect(copied.error == nil && copied.integer("version") == 1, "\(copied)")
        for copy in [name, "copies/\(name)"] {
          let got = try client.call("Get", ["name": copy])
          #expect(got.string("value") == more["value"] as? String && got.string("data") == more["data"] as? String)
          #expect(try facts(copy, client) == before)
        }
        // A copy has the current version only.
        #expect(try (client.call("History", ["name": "copies/\(name)"]).parameters["versions"] as? [Any])?.count == 1)
      }
    }
  }

  @Test("a copy is known again by its value and all that is said about it") func known() throws {
    try withClient { _, client throws in
      let item: WireClient.Message = [
        "value": "v", "kind": "api-key", "attributes": ["k": "x"], "expires": 4_000_000_000,
      ]
      #expect(try client.call("Set", item.merging(["name": "a"]) { $1 }).error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b", "made": true]).error == "NoSuchItem")
      #expect(try client.call("Copy", ["from": "a", "to": "b"]).error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b", "made": true]).integer("version") == 1)
      #expect(try client.call("Copy", ["from": "a", "to": "a", "made": true]).error == "AlreadyExists")
      let changes: [WireClient.Message] = [
        ["value": "w"], ["attributes": ["k": "y"]], ["expires": 4_000_000_001], ["require": "password"], ["reuse": 77],
        ["accessible": "always"],
      ]
      for (number, change) in changes.enumerated() {
        let name = "c/\(number)"
        let other = item.merging(["name": name]) { $1 }.merging(change) { $1 }
        #expect(try client.call("Set", other).error == nil)
        let reply = try client.call("Copy", ["from": "a", "to": name, "made": true])
        #expect(reply.error == "AlreadyExists", "\(change) \(reply)")
      }
      // No new version was stored.
      #expect(try (client.call("History", ["name": "b"]).parameters["versions"] as? [Any])?.count == 1)
    }
  }

  @Test("a copy has no attribute by which an import knows its items, and is known again without them") func marks()
    throws
  {
    try withClient { _, client throws in
      let kept = ["title": "X", "source": "csv:a", "source-created": "2001-09-09T01:46:40Z", "imported": "yes"]
      let marks = Dictionary(
        uniqueKeysWithValues: [
          "source-id", "source-field", "import", "import-version", "import-replaced", "import-replaced-expires",
          "import-replaced-kind",
        ].map { ($0, "1") })
      func attributes(_ name: String) throws -> [String: String]? {
        let item = try client.call("Show", ["name": name]).parameters["item"] as? WireClient.Message
        return item?["attributes"] as? [String: String]
      }
      let all = kept.merging(marks) { $1 }
      let large = String(repeating: "0123456789abcdef", count: 1 << 16)
      for (name, value) in [("small", "v"), ("large", large)] {
        #expect(try client.call("Set", ["name": name, "value": value, "kind": "note", "attributes": all]).error == nil)
        #expect(try client.call("Copy", ["from": name, "to": "\(name)/new"]).error == nil)
        // The target was an item of an import itself.
        #expect(try client.call("Set", ["name": "\(name)/old", "value": "w", "attributes": marks]).error == nil)
        #expect(try client.call("Copy", ["from": name, "to": "\(name)/old", "replace": true]).error == nil)
        for copy in ["new", "old"] {
          #expect(try attributes("\(name)/\(copy)") == kept)
          #expect(try client.call("Copy", ["from": name, "to": "\(name)/\(copy)", "made": true]).error == nil)
        }
        #expect(try attributes(name) == all)
        // An item with the marks is no copy, even if all else is the same.
        let same: WireClient.Message = ["name": "\(name)/same", "value": value, "kind": "note", "attributes": all]
        #expect(try client.call("Set", same).error == nil)
        let made = try client.call("Copy", ["from": name, "to": "\(name)/same", "made": true])
        #expect(made.error == "AlreadyExists")
      }
    }
  }

  @Test("what is there already is replaced only when that is asked for, and keeps its versions") func replaced() throws
  {
    try withClient { _, client throws in
      #expect(try client.call("Set", ["name": "a", "value": "of a", "kind": "note", "reuse": 90]).error == nil)
      #expect(try client.call("Set", ["name": "b", "value": "of b", "attributes": ["k": "v"]]).error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b"]).error == "AlreadyExists")
      #expect(try client.call("Get", ["name": "b"]).string("value") == "of b")
      #expect(try client.call("Copy", ["from": "a", "to": "b", "replace": true]).integer("version") == 2)
      #expect(try client.call("Get", ["name": "b"]).string("value") == "of a")
      #expect(try client.call("Get", ["name": "b", "version": 1]).string("value") == "of b")
      #expect(try facts("b", client) == facts("a", client))
      #expect(try client.call("Copy", ["from": "a", "to": "a", "replace": true]).error == "AlreadyExists")
      #expect(try client.call("Copy", ["from": "none", "to": "c"]).error == "NoSuchItem")
      #expect(try client.call("Copy", ["from": "a", "to": "/"]).error == "InvalidName")
    }
  }

  @Test("an item past its expiry is copied only when that is asked for, and the copy has expired, too") func expired()
    throws
  {
    try withClient { _, client throws in
      let set = try client.call("Set", ["name": "a", "value": "v", "expires": 1_000_000_000])
      #expect(set.error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b"]).error == "Expired")
      #expect(try client.call("Copy", ["from": "a", "to": "b", "expired": true]).error == nil)
      #expect(try client.call("Get", ["name": "b"]).error == "Expired")
    }
  }

  @Test("while the vault is locked no copy is made") func locked() throws {
    try withClient { _, client throws in
      #expect(try client.call("Set", ["name": "a", "value": "v"]).error == nil)
      #expect(try client.call("Lock").error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b"]).error == "Locked")
    }
  }

  @Test("a secret is drawn as it is for an item, in every state, and none twice") func generated() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let client = try sandbox.client()
    func draw(_ recipe: WireClient.Message) throws -> String? {
      try client.call("Generate", ["recipe": recipe]).string("value")
    }
    #expect(try client.call("Status").string("state") == "new")
    let drawn = try (0..<20).compactMap { _ in try draw(["style": "password"]) }
    #expect(Set(drawn).count == 20 && drawn.allSatisfy { $0.utf8.count == 24 })
    let plain = try #require(try draw(["style": "password", "length": 200, "symbols": false]))
    #expect(
      plain.utf8.count == 200
        && plain.utf8.allSatisfy { ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (48...57).contains($0) })
    #expect(try draw(["style": "phrase", "length": 9])?.split(separator: "-").count ?? 0 >= 9)
    for recipe: WireClient.Message in [
      ["style": "word"], ["style": "password", "length": 7], ["style": "phrase", "length": 65],
    ] {
      #expect(try client.call("Generate", ["recipe": recipe]).error == "InvalidValue")
    }
  }

  @Test(
    "neither what was copied nor what was drawn is left in memory after a lock",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func memory() throws {
    try withClient { sandbox, client throws in
      let secret = try #require(
        try client.call("Generate", ["recipe": ["style": "password", "length": 64]]).string("value"))
      let other = String((0..<64).map { _ in "abcdefghijkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
      #expect(try client.call("Set", ["name": "a", "value": other]).error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b"]).error == nil)
      #expect(try client.call("Copy", ["from": "a", "to": "b", "replace": true]).error == nil)
      #expect(try client.call("Lock").error == nil)
      let memory = try MemorySearch(pid: try #require(sandbox.daemonPid))
      #expect(memory.find(Array(secret.utf8)) == [] && memory.find(Array(other.utf8)) == [])
    }
  }
}
