import Testing
import VaultTesting

@Suite("Receipts") struct ReceiptTests {
  @Test("a receipt is for a version that there is or was, and stands in the log with one line of the watcher's words")
  func recorded() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    let client = try sandbox.client()
    for update in [false, true] {
      #expect(try client.call("Set", ["name": "a", "value": "v", "update": update]).error == nil)
    }
    func receipt(_ name: String, _ version: Int, _ succeeded: Bool, _ detail: String? = nil) throws -> String? {
      var call: WireClient.Message = ["name": name, "version": version, "succeeded": succeeded]
      call["detail"] = detail
      return try client.call("Receipt", call).error
    }
    #expect(try receipt("a", 1, true) == nil)
    #expect(
      try receipt("a", 2, false, "exit 1\nversion 9: \u{1B}[31m\u{200B}" + String(repeating: "x", count: 500)) == nil)
    for version in [-1, 0, 3, Int.max] {
      #expect(try receipt("a", version, true) == "org.varlink.service.InvalidParameter", "\(version)")
    }
    #expect(try receipt("b", 1, true) == "NoSuchItem")
    let log = try client.call("Audit", ["action": "receipt"], more: true)
    let entries = (log.parameters["entries"] as? [[String: Any]] ?? [])
    let told = entries.map { "\($0["outcome"] ?? "") \($0["item"] ?? "") \($0["detail"] ?? "-")" }
    #expect(told.first == "ok a version 1")
    // Equal refusals are one entry, and counted.
    #expect(told.count == 4 && told[1] == "failed a version 2")
    // The watcher's own words are told apart, on one line.
    let said = entries[1]["purpose"] as? String ?? ""
    #expect(said.hasPrefix("exit 1") && said.count <= 120 && entries[0]["purpose"] == nil)
    #expect(!said.contains { $0.isNewline } && !said.unicodeScalars.contains("\u{1B}"))
    #expect(told[2...].allSatisfy { $0.hasSuffix(" -") })
  }
}
