import Foundation
import Testing
import VaultTesting

/// The whole way of a CSV of a browser, with the real programs.
@Suite("vault import of a file") struct ImportCommandTests {
  private static let csv = """
    name,url,username,password,note
    GitHub,https://github.com/login,ana,first secret,a note
    ,https://example.org,bob,"second, secret",
    GitHub,https://github.com/other,cid,third secret,

    """

  private static func withCSV(_ body: (Sandbox, String) throws -> Void) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try body(sandbox, try sandbox.write(csv, to: "passwords.csv"))
  }

  @Test("stores every entry, and a second import changes nothing") func twice() throws {
    try Self.withCSV { sandbox, path in
      let dry = try sandbox.must(["import", "--dry-run", path])
      #expect(dry.contains("4 items to store: 3 of kind password, 1 of kind note"))
      #expect(try sandbox.must(["list"]) == "web\n")
      try sandbox.must(["import", "--yes", path])
      #expect(try sandbox.must(["list"]) == "GitHub\nGitHub (2)\nGitHub/note\nexample.org\nweb\n")
      #expect(try sandbox.must(["get", "example.org"]) == "second, secret")
      #expect(try sandbox.must(["find", "url~**github**"]) == "GitHub\nGitHub (2)\n")
      let before = try sandbox.must(["list", "--json"])
      #expect(try sandbox.must(["import", "--yes", path]).contains("no item to store"))
      #expect(try sandbox.must(["list", "--json"]) == before)
      try sandbox.must(["import", "--undo", "--yes"])
      #expect(try sandbox.must(["list"]) == "web\n")
    }
  }

  @Test("reads each item back once, the first ones before the last are stored, and once in a second import")
  func readBack() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let rows = (0..<600).map { "Site \($0),,user\($0),secret \($0),\n" }
    let path = try sandbox.write("name,url,username,password,note\n" + rows.joined(), to: "many.csv")
    try sandbox.must(["import", "--yes", path])
    func audit() throws -> [[Substring]] {
      try sandbox.must(["audit", "list", "-n", "100000"]).split(separator: "\n").map {
        $0.split(separator: "\t", omittingEmptySubsequences: false)
      }
    }
    let entries = try audit()
    func indices(_ action: String) -> [Int] {
      entries.indices.filter { entries[$0][3] == action && entries[$0][4].hasPrefix("Site ") }
    }
    let (sets, gets) = (indices("set"), indices("get"))
    #expect(sets.count == 600 && gets.count == 600)
    #expect(Set(gets.map { entries[$0][4] }).count == 600)
    let (first, last) = (try #require(gets.first), try #require(sets.last))
    #expect(first < last)
    #expect(try sandbox.must(["import", "--yes", path]).contains("600 items already there"))
    let again = try audit().dropFirst(entries.count).filter { $0[3] == "get" && $0[4].hasPrefix("Site ") }
    #expect(again.count == 600 && Set(again.map { $0[4] }).count == 600)
  }

  @Test("leaves out an item that has changed, and updates it if asked") func clash() throws {
    try Self.withCSV { sandbox, path in
      try sandbox.must(["import", "--yes", path])
      let changed = try sandbox.write(
        Self.csv.replacingOccurrences(of: "second,", with: "other,"), to: "passwords2.csv")
      let outcome = try sandbox.run(["import", "--yes", changed])
      #expect(outcome.status == 73 && outcome.output.contains("`example.org` is there with another content"))
      #expect(try sandbox.must(["get", "example.org"]) == "second, secret")
      try sandbox.must(["import", "--yes", "--update", changed])
      #expect(try sandbox.must(["get", "example.org"]) == "other, secret")
      try sandbox.must(["import", "--undo", "--yes"])
      #expect(try sandbox.must(["get", "example.org"]) == "second, secret")
      try sandbox.must(["import", "--yes", "--keep-both", changed])
      #expect(try sandbox.must(["get", "example.org (2)"]) == "other, secret")
    }
  }

  @Test("advises to remove the source only if the vault has all of it, and a refused value is a failure")
  func keptSource() throws {
    try Self.withCSV { sandbox, path in
      func taken(_ arguments: String...) throws -> (screen: String, status: Int32) {
        let terminal = try Terminal(sandbox, ["import", "--yes"] + arguments)
        let status = try terminal.wait()
        return (terminal.screen, status)
      }
      let part = try taken("--only", "name=example.org", path)
      #expect(part.status == 0 && part.screen.contains("what was not taken from it: 2 entries; keep it"), "\(part)")
      #expect(!part.screen.contains("shred"))
      let whole = try taken(path)
      #expect(whole.status == 0 && whole.screen.contains("in the clear; `shred -u"), "\(whole)")
      let note = String(repeating: "n", count: 1_100_000)
      let large = try sandbox.write("name,url,username,password,note\nBig,,eva,fourth secret,\(note)\n", to: "big.csv")
      let refused = try taken(large)
      #expect(refused.status == 65 && refused.screen.contains("not taken from it: 1 field; keep it"), "\(refused)")
      #expect(refused.screen.contains("1 value of the source was refused, so only the source has it"))
      #expect(!refused.screen.contains("shred"))
      #expect(try sandbox.must(["get", "Big"]) == "fourth secret")
    }
  }

  @Test("asks nobody without a terminal") func unattended() throws {
    try Self.withCSV { sandbox, path in
      for arguments in [["import", path], ["import", "--undo"]] {
        let outcome = try sandbox.run(arguments)
        #expect(outcome.status == 64)
      }
      #expect(try sandbox.must(["list"]) == "web\n")
    }
  }

  @Test("writes a report without values, and sums in JSON that agree") func report() throws {
    try Self.withCSV { sandbox, path in
      let report = sandbox.root + "/report"
      let json = try sandbox.must(["import", "--yes", "--json", "--report", report, path])
      let text = try String(contentsOfFile: report, encoding: .utf8)
      #expect(text.contains("attribute username of `GitHub`") && !text.contains("secret"))
      let mode = try FileManager.default.attributesOfItem(atPath: report)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      let object = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      let sums = try #require(object["sums"] as? [String: Int])
      #expect(sums.values.reduce(0, +) == object["fields"] as? Int && object["stored"] as? Int == 4)
    }
  }

  @Test("takes files of the same name below different folders for different sources") func sameName() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    var paths: [String] = []
    for (folder, key) in [("pa", "sk_a"), ("pb", "sk_b")] {
      try FileManager.default.createDirectory(atPath: sandbox.home + "/" + folder, withIntermediateDirectories: false)
      paths.append(try sandbox.write("STRIPE_KEY=\(key)\nREGION=eu\n", to: folder + "/.env"))
    }
    for update in [[], ["--update"]] {
      for (path, folder) in zip(paths, ["projA", "projB"]) {
        try sandbox.must(["import", "--yes", "--into", folder] + update + [path])
      }
    }
    for (folder, key) in [("projA", "sk_a"), ("projB", "sk_b")] {
      #expect(try sandbox.must(["get", folder + "/env/STRIPE_KEY"]) == key)
      #expect(try sandbox.must(["get", folder + "/env/REGION"]) == "eu")
    }
    #expect(try sandbox.must(["import", "--yes", "--into", "projB", paths[1]]).contains("in `projB/`"))
  }

  @Test("checks the files for the report and the template before it stores anything") func files() throws {
    try Self.withCSV { sandbox, path in
      let secrets = try sandbox.write("wifi: hunter2\n", to: "secrets.yaml")
      let (folder, start) = (sandbox.home, ["import", "--yes", "--from", "esphome", secrets])
      let same = ["--template", folder + "/t", "--report", folder + "/../home/./t"]
      let outcome = try sandbox.run(start + same)
      #expect(outcome.status == 64 && outcome.errors.contains("name the same file"), "\(outcome)")
      let missing = try sandbox.run(start + ["--template", folder + "/no/t"])
      #expect(missing.status == 74, "\(missing)")
      #expect(try sandbox.run(start + ["--report", "/proc/t"]).status == 74)
      #expect(try sandbox.must(["list"]) == "web\n")
      try sandbox.must(start + ["--template", folder + "/t", "--report", folder + "/u"])
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(!names.contains { $0.hasPrefix(".vault-new-") } && names.contains("t") && names.contains("u"))
    }
  }

  @Test("needs a permission of its own for names that a grant opens") func grants() throws {
    try Self.withCSV { sandbox, path in
      let grant = try Terminal(sandbox, ["grant", "user:4242", "shared/**", "--can", "get"])
      try grant.expect("assword")
      grant.type(password)
      let status = try grant.wait()
      try #require(status == 0, "\(grant.screen)")
      let outcome = try sandbox.run(["import", "--yes", "--into", "shared", path])
      #expect(outcome.status == 77 && outcome.errors.contains("add --allow-granted"))
      try sandbox.must(["import", "--yes", "--into", "shared", "--allow-granted", path])
      #expect(try sandbox.must(["list", "shared"]).contains("shared/GitHub"))
    }
  }
}
