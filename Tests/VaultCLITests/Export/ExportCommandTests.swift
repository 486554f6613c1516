import Foundation
import Testing
import VaultModel
import VaultTesting

/// The whole way out of a vault and back into it, with the real programs.
@Suite("vault export to a file, and back") struct ExportCommandTests {
  private static let filePassword = "a password for the file\n"

  /// The options of each format, and the end of its files' names.
  private static let formats = [["kdbx", "--kdf-memory", "16m"], ["bitwarden-json", "--kdf-memory", "16m"]]

  /// A vault with items of every kind, with attributes, expiries that are ahead or have passed, and versions.
  private static func withItems(_ body: (Sandbox) throws -> Void) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let now = Int(Date.now.timeIntervalSince1970)
    let values: [(kind: ItemKind, value: String, attributes: [String: String])] = [
      (.password, "pass word", ["username": "ana", "url": "https://a.example/", "tags": "x,y", "url-3": "z"]),
      (.apiKey, "key", ["owner": "ana"]), (.deviceToken, "token", [:]), (.pairingCode, "031-45-154", [:]),
      (.wifi, "long enough", ["ssid": "Guests", "security": "WPA3"]), (.totp, "JBSW Y3DP EHPK 3PXP", [:]),
      (.note, "two\nlines\r\n", ["username": "ana"]), (.blob, "text", ["media-type": "text/plain"]),
      (.certificate, try ExportedItems.pem("certificate-utctime"), [:]),
      (.tlsKey, try ExportedItems.pem("tls-with-certificate"), [:]),
    ]
    var lines = ""
    for (number, item) in values.enumerated() {
      for version in ["", " 2"] where version.isEmpty || item.kind == .password {
        var object: [String: Any] = [
          "name": "every/\(item.kind.rawValue)", "kind": item.kind.rawValue, "value": item.value + version,
          "attributes": item.attributes,
        ]
        if !version.isEmpty { object["update"] = true }
        if !item.kind.facts.mayEnd, number % 3 > 0 { object["expires"] = now + (number % 3 == 1 ? 100_000 : -100_000) }
        lines += String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self) + "\n"
      }
    }
    try sandbox.must(["set", "--batch", "--expired"], stdin: lines)
    try sandbox.must(["set", "every/ssh-key", "--use", "ssh", "--generate", "ed25519"])
    try sandbox.must(["set", "every/password/notes"], stdin: "no note")
    try sandbox.must(["set", "empty", "--kind", "note", "--attr", "owner=ana"])
    try body(sandbox)
  }

  @discardableResult
  private static func export(_ sandbox: Sandbox, _ format: [String], to path: String, _ more: [String] = []) throws
    -> String
  {
    try sandbox.must(
      ["export", "--to"] + format + ["--yes", "--password-stdin", "--output", path] + more, stdin: filePassword)
  }

  @Test("changes nothing in the vault that it came from, with --update neither", arguments: formats)
  func unchanged(format: [String]) throws {
    try Self.withItems { sandbox in
      let path = sandbox.home + "/export"
      try Self.export(sandbox, format, to: path)
      let before = try sandbox.must(["list", "--json"])
      for choice in [[], ["--update"], ["--keep-both"]] {
        let said = try sandbox.must(["import", "--yes", "--password-stdin", path] + choice, stdin: Self.filePassword)
        #expect(said.contains("no item to store") && !said.contains("another content"), "\(said)")
      }
      #expect(try sandbox.must(["list", "--json"]) == before)
    }
  }

  @Test("a database brings everything into another folder: kinds, expiries, attributes, versions, empty values")
  func whole() throws {
    try Self.withItems { sandbox in
      let path = sandbox.home + "/export"
      let account = try Self.export(sandbox, Self.formats[0], to: path, ["name~every/**"])
      let lost = "the form of the value, which is written as a URI of `every/totp`"
      #expect(account == "12 items exported as kdbx\nnot in the file: \(lost)\n", "\(account)")
      try sandbox.must(["import", "--yes", "--password-stdin", "--into", "new", path], stdin: Self.filePassword)
      for kind in ItemKind.allCases.map(\.rawValue) {
        func facts(_ name: String) throws -> [String: Any] {
          let text = try sandbox.must(["show", name, "--json"])
          var object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
          for key in ["name", "created", "modified", "creator", "writer"] { object[key] = nil }
          let attributes = object["attributes"] as? [String: String] ?? [:]
          object["attributes"] = attributes.filter {
            !$0.key.hasPrefix("source") && !["import", "import-version", "title"].contains($0.key)
          }
          return object
        }
        // The form in which other programs read one-time secrets is another one.
        guard kind != ItemKind.totp.rawValue else { continue }
        let (old, new) = (try facts("every/\(kind)") as NSDictionary, try facts("new/every/\(kind)") as NSDictionary)
        #expect(old == new, "\(old) \(new)")
        #expect(
          try sandbox.must(["get", "every/\(kind)", "--expired"])
            == sandbox.must(["get", "new/every/\(kind)", "--expired"]))
      }
      #expect(try sandbox.must(["get", "new/every/password", "--version", "1"]) == "pass word")
      let expired = try sandbox.run(["get", "new/every/device-token"])
      #expect(expired.status == 65)
    }
  }

  @Test("an import that changed a value, an expiry and a kind is taken back with all of them") func undone() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "token", "--kind", "api-key", "--expires", "2020-01-01", "--expired"], stdin: "old")
    let csv = "name,url,username,password,note\ntoken,,,\"two\nlines\",\n"
    let path = try sandbox.write(csv, to: "passwords.csv")
    let before = try sandbox.must(["show", "token"]).split(separator: "\n").filter { $0.hasPrefix("kind") }
    try sandbox.must(["import", "--yes", "--update", path])
    #expect(try sandbox.must(["get", "token"]) == "two\nlines")
    #expect(try sandbox.must(["show", "token"]).contains("kind: password"))
    try sandbox.must(["import", "--undo", "--yes"])
    let shown = try sandbox.must(["show", "token"])
    #expect(shown.contains("expires: 2020-01-01T00:00:00Z") && !shown.contains("import-replaced"))
    #expect(shown.split(separator: "\n").filter { $0.hasPrefix("kind") } == before)
    let got = try sandbox.run(["get", "token"])
    #expect(got.status == 65)
    #expect(try sandbox.must(["get", "token", "--expired"]) == "old")
  }

  @Test(
    "the password of a file is as strong as one of a vault",
    arguments: [("k", "at least 8 characters"), ("password", "attackers try first"), ("zyxwvuts", "repeat or count")])
  func weak(password: String, reason: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let path = sandbox.home + "/export"
    for format in Self.formats {
      let outcome = try sandbox.run(
        ["export", "--to"] + format + ["--yes", "--password-stdin", "--output", path],
        stdin: Array("\(password)\n".utf8))
      #expect(outcome.status == 65 && outcome.errors.contains(reason), "\(outcome)")
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
