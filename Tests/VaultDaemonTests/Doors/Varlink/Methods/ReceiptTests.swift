import Glibc
import Testing
import VaultTesting

@Suite("Receipts") struct ReceiptTests {
  @Test("a receipt is for a version that there is or was, and stands in the log with one line of the watcher's words")
  func recorded() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    try sandbox.copyVault(config: "idle = off")
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
    let all = (log.parameters["entries"] as? [[String: Any]] ?? [])
    let entries = all.filter { $0["count"] == nil }
    let told = entries.map { "\($0["outcome"] ?? "") \($0["item"] ?? "") \($0["detail"] ?? "-")" }
    #expect(told.first == "ok a version 1")
    // Equal refusals form one entry with a count: refusals for one item, and refusals before any item was looked up.
    #expect(told.count == 5 && told[1] == "failed a version 2")
    // The watcher's own words stand apart, on one line.
    let said = entries[1]["purpose"] as? String ?? ""
    #expect(said.hasPrefix("exit 1") && said.count <= 120 && entries[0]["purpose"] == nil)
    #expect(!said.contains { $0.isNewline } && !said.unicodeScalars.contains("\u{1B}"))
    #expect(told[2...].allSatisfy { $0.hasSuffix(" -") })
  }

  @Test("a receipt is refused if the name has got another item, or lost its own, since the event that was heard last")
  func ofAnother() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock("correct horse battery")
    let client = try sandbox.client()
    func call(_ method: String, _ parameters: WireClient.Message) throws {
      let error = try client.call(method, parameters).error
      try #require(error == nil, "\(method) \(parameters): \(error ?? "")")
    }
    func receipt(_ name: String, since cursor: String?) throws -> String? {
      var call: WireClient.Message = ["name": name, "version": 1, "succeeded": true]
      call["since"] = cursor
      return try client.call("Receipt", call).error
    }
    /// The place in the events now.
    func cursor() throws -> String {
      let watcher = try sandbox.client()
      return try #require(try watcher.call("Monitor", more: true).string("cursor"))
    }
    try call("Set", ["name": "a", "value": "v"])
    let first = try cursor()
    try call("Set", ["name": "a", "value": "w", "update": true])
    try call("Set", ["name": "other", "value": "v"])
    #expect(try receipt("a", since: first) == nil)
    // Another item takes the name, and has a version of the same number.
    try call("Move", ["from": "a", "to": "old"])
    #expect(try receipt("old", since: first) == "NoSuchVersion")
    try call("Set", ["name": "a", "value": "x"])
    #expect(try receipt("a", since: first) == "NoSuchVersion")
    let second = try cursor()
    #expect(try receipt("a", since: second) == nil && receipt("old", since: second) == nil)
    try call("Delete", ["names": ["a"], "now": true])
    try call("Set", ["name": "a", "value": "y"])
    #expect(try receipt("a", since: second) == "NoSuchVersion")
    #expect(try receipt("old", since: second) == nil)
    // A client of an earlier version gives no cursor, and one of an earlier run of the daemon tells nothing.
    #expect(try receipt("a", since: nil) == nil)
    #expect(try receipt("a", since: "0000000000000000") == nil)
    #expect(try receipt("a", since: "x") == "org.varlink.service.InvalidParameter")
  }

  @Test("what a watcher says that a person is to see to stands in the status until it says something else, or ends")
  func notices() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "a", "value": "v"]).error == nil)
    func receipt(_ parameters: WireClient.Message) throws -> String? {
      let common: WireClient.Message = ["name": "a", "version": 1]
      return try client.call("Receipt", common.merging(parameters) { $1 }).error
    }
    func watchers() throws -> [[String: Any]] {
      try client.call("Status").parameters["watchers"] as? [[String: Any]] ?? []
    }
    #expect(try watchers().isEmpty)
    #expect(try receipt(["succeeded": false, "held": true, "detail": "why", "notice": "see\n\u{1B}[31mto it"]) == nil)
    let said = try watchers()
    #expect(said.count == 1 && said[0]["notice"] as? String == "see\\u{a}\\u{1b}[31mto it", "\(said)")
    #expect(said[0]["pid"] as? Int == Int(getpid()) && said[0]["uid"] as? Int == Int(getuid()))
    #expect(try receipt(["succeeded": true, "held": true]) == "org.varlink.service.InvalidParameter")
    // A refused receipt changes nothing.
    #expect(try receipt(["version": 7, "succeeded": true]) == "org.varlink.service.InvalidParameter")
    #expect(try watchers().count == 1)
    #expect(try receipt(["succeeded": true, "notice": String(repeating: "x", count: 5000)]) == nil)
    #expect(try (watchers().first?["notice"] as? String)?.count == 1000)
    #expect(try receipt(["succeeded": true]) == nil)
    #expect(try watchers().isEmpty)
    let log = try client.call("Audit", ["action": "receipt"], more: true)
    let entries = log.parameters["entries"] as? [[String: Any]] ?? []
    #expect(entries.first?["detail"] as? String == "version 1, held")
    #expect(entries.first?["outcome"] as? String == "failed")
  }
}
