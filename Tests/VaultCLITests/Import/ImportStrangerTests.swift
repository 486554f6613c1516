import Testing
import VaultTesting

/// An import into the machine's vault, where another user has the rights to read and to make items in one folder.
@Suite("vault import beside another user's items", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct ImportStrangerTests {
  private static let id = "11111111-2222-3333-4444-555555555555"

  private static func with(_ body: (Sandbox, String) throws -> Void) throws {
    try SharedFolder.with { sandbox in try body(sandbox, try export("secret-two", to: sandbox)) }
  }

  /// Writes an export of Bitwarden with one login and an earlier password.
  private static func export(_ password: String, to sandbox: Sandbox) throws -> String {
    try sandbox.write(
      """
      {"encrypted": false, "folders": [], "items": [{"id": "\(id)", "organizationId": null, "folderId": null,
      "type": 1, "reprompt": 0, "name": "bank", "notes": null, "favorite": false, "collectionIds": null,
      "passwordHistory": [{"lastUsedDate": "2024-01-01T00:00:00.000Z", "password": "old-known"}],
      "login": {"uris": [], "username": "me", "password": "\(password)", "totp": null}}]}
      """, to: "bitwarden.json")
  }

  private static func plant(
    _ sandbox: Sandbox, _ name: String, _ value: String, _ attributes: [String: String]
  ) throws {
    let attributes = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    try SharedFolder.plant(sandbox, name, value, attributes)
  }

  private static func read(_ sandbox: Sandbox, _ name: String) throws -> String {
    try SharedFolder.other(sandbox, ["get", name]).output
  }

  private static let marks = ["source": "bitwarden:bitwarden.json", "source-id": id, "title": "bank", "username": "me"]

  @Test(
    "gives no secret to an item that the other user has made to look like one of an earlier import",
    arguments: [[], ["--update"], ["--keep-both"]])
  func planted(options: [String]) throws {
    try Self.with { sandbox, path in
      try Self.plant(sandbox, "shared/x", "mine", Self.marks)
      let unfinished = Self.marks.merging(["import": "2026-01-01T00:00:00Z-0000 unfinished"]) { own, _ in own }
      try Self.plant(sandbox, "shared/y", "old-known", unfinished)
      let outcome = try sandbox.run(["import", "--yes"] + options + [path] + SharedFolder.at(sandbox))
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try Self.read(sandbox, "shared/x") == "mine" && Self.read(sandbox, "shared/y") == "old-known")
      #expect(try sandbox.must(["get", "bank"] + SharedFolder.at(sandbox)) == "secret-two")
    }
  }

  @Test("replaces nothing that the other user has made under the very name, and says whose it is") func taken() throws {
    try Self.with { sandbox, path in
      let into = ["import", "--yes", "--into", "shared"]
      #expect(try sandbox.run(into + [path] + SharedFolder.at(sandbox)).status == 77)
      try Self.plant(sandbox, "shared/bank", "mine", [:])
      for options in [[], ["--update"], ["--update", "--allow-granted"]] {
        let outcome = try sandbox.run(into + options + [path] + SharedFolder.at(sandbox))
        #expect(outcome.status == 73 && outcome.errors.contains("an item of others has its name"), "\(outcome)")
        #expect(
          outcome.output.contains("`shared/bank` is there, made or written by user:\(SharedFolder.stranger)"),
          "\(outcome)")
        #expect(try Self.read(sandbox, "shared/bank") == "mine")
      }
      let json = try sandbox.run(into + ["--json", path] + SharedFolder.at(sandbox))
      #expect(json.output.contains(#""foreign":["shared/bank"]"#), "\(json)")
      let both = try sandbox.run(into + ["--keep-both", path] + SharedFolder.at(sandbox))
      #expect(both.status == 77 && both.errors.contains("`shared/bank (2)`: open to user:nobody (get, set)"))
    }
  }

  @Test("asks for the permission for new versions under names that a grant opens, and names the grant")
  func versions() throws {
    try Self.with { sandbox, path in
      let into = ["import", "--yes", "--into", "shared"]
      let first = try sandbox.must(into + ["--allow-granted", path] + SharedFolder.at(sandbox))
      let grant = "`shared/bank`: open to user:nobody (get, set) by grants"
      #expect(first.contains(grant))
      #expect(
        try sandbox.must(into + [path] + SharedFolder.at(sandbox)).contains("1 item already there: 1 in `shared/`"))
      let changed = try Self.export("secret-three", to: sandbox)
      let dry = try sandbox.run(["import", "--dry-run", "--update", changed] + SharedFolder.at(sandbox))
      #expect(dry.output.contains(grant), "\(dry)")
      let outcome = try sandbox.run(["import", "--yes", "--update", changed] + SharedFolder.at(sandbox))
      #expect(outcome.status == 77 && outcome.errors.contains(grant), "\(outcome)")
      #expect(try Self.read(sandbox, "shared/bank") == "secret-two")
      try sandbox.must(["import", "--yes", "--update", "--allow-granted", changed] + SharedFolder.at(sandbox))
      #expect(try Self.read(sandbox, "shared/bank") == "secret-three")
    }
  }

  @Test("takes back no import that the other user has made up") func undo() throws {
    try Self.with { sandbox, path in
      try Self.plant(sandbox, "shared/y", "mine", ["import": "9999-01-01T00:00:00Z-ffff"])
      let none = try sandbox.run(["import", "--undo", "--yes"] + SharedFolder.at(sandbox))
      #expect(none.status == 66 && none.errors.contains("no import of yours"), "\(none)")
      try sandbox.must(["import", "--yes", path] + SharedFolder.at(sandbox))
      try sandbox.must(["import", "--undo", "--yes"] + SharedFolder.at(sandbox))
      #expect(try sandbox.must(["list"] + SharedFolder.at(sandbox)) == "shared/y\n")
    }
  }
}
