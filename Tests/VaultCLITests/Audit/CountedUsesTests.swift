import Foundation
import Testing
import VaultTesting

/// The messages of commands about uses that the audit log only counted.
@Suite("Uses that were only counted in the audit log") struct CountedUsesTests {
  /// Reads an item repeatedly, each time with a different reason, so that no two audit entries are equal.
  private func read(_ client: WireClient, _ name: String, _ numbers: Range<Int>) throws {
    for number in numbers {
      let reason = "\(number) " + String(repeating: "x", count: 190)
      let reply = try client.call("Get", ["name": name, "reason": reason])
      try #require(reply.error == nil, "\(reply)")
    }
  }

  private func vault() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.startDaemon(config: "idle = off\naudit-size = 1m\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    for name in ["web", "other"] { try sandbox.must(["set", name], stdin: "value") }
    return sandbox
  }

  @Test("are told by `audit item`, `list --unused` and `status`, with the item and without one") func told() throws {
    let sandbox = try vault()
    defer { sandbox.close() }
    let client = try sandbox.client()
    try read(client, "web", 0..<5)
    let exact = try sandbox.run("audit", "item", "web")
    #expect(exact.output.hasSuffix("\t5\n") && exact.errors.isEmpty, "\(exact)")
    #expect(try !sandbox.must(["status"]).contains("only counted"))

    try read(client, "web", 5..<600)
    let counted = try sandbox.run("audit", "item", "web")
    #expect(counted.output.hasSuffix("\t600\n"), "\(counted)")
    let note = try #require(counted.errors.wholeMatch(of: /vault: (\d+) of these were only counted in the log\n/))
    let count = try #require(Int(note.1))
    #expect((1..<600).contains(count))
    // No two reads were equal, so each of the others has an entry of its own.
    let entries = try sandbox.must(["audit", "--json", "--action", "get"]).split(separator: "\n")
    let whole = entries.count { $0.contains("\"item\":\"web\"") && !$0.contains("\"count\":") }
    #expect(count == 600 - whole)
    let json = try sandbox.must(["audit", "item", "web", "--json"])
    #expect(json.contains("\"count\":600,\"counted\":\(count)}"), "\(json)")
    #expect(try sandbox.must(["status"]).contains(/\d+ calls were only counted in the audit log/))
    // Nothing is uncertain about the other item.
    #expect(try sandbox.run("audit", "item", "other").errors.isEmpty)
    #expect(try sandbox.run("list", "--unused", "1h").errors.isEmpty)

    // A backup has them, and takes no item from the counts of the vault that goes on.
    let copy = sandbox.home + "/copy"
    for _ in 0..<2 { try sandbox.must(["backup", "--force", copy]) }
    let restored = try Sandbox()
    defer { restored.close() }
    try restored.startDaemon(config: "idle = off\naudit-size = 1m\n")
    try restored.must(["restore", "--password-stdin", copy], stdin: password + "\n")
    try restored.must(["unlock", "--password-stdin"], stdin: password + "\n")
    for one in [sandbox, restored] { #expect(try one.must(["audit", "item", "web"]).hasSuffix("\t600\n")) }

    // Beyond a limited number of items, the counted uses are no longer told apart by item.
    for start in stride(from: 0, to: 600, by: 100) {
      let items = (start..<start + 100).map { ["name": "many/\($0)", "value": "v"] }
      #expect(try client.call("SetMany", ["items": items]).error == nil)
    }
    for number in 0..<600 { #expect(try client.call("Get", ["name": "many/\(number)"]).error == nil) }
    for (name, certain) in [("web", 600), ("other", 0)] {
      let outcome = try sandbox.run("audit", "item", name)
      let words = /(\d+) more were counted without the items' names, and may concern this item\n/
      let others = try #require(outcome.errors.firstMatch(of: words), "\(outcome)")
      #expect(outcome.output.contains("\t0 to \(others.1)\n"), "\(outcome)")
      #expect(outcome.output.contains("\t\(certain)\n") == (certain > 0), "\(outcome)")
      #expect(try sandbox.must(["audit", "item", name, "--json"]).contains("\"uncertain\":true"))
      let unused = try sandbox.run("list", "--unused", "1h")
      #expect(
        unused.errors
          == "vault: \(others.1) uses since then were counted without the items' names, and may concern these items\n",
        "\(unused)")
    }
  }
}
