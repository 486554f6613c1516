import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Agents at the socket") struct AttendDoorTests {
  /// Makes a user's vault with the items `web` and `bank`, which requires the password; `settings` adds lines to the
  /// configuration.
  private func sandbox(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.configure("pam-service = vault-test-none\n" + settings)
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    try sandbox.must(["set", "bank", "--require", "password"], stdin: "1234")
    return sandbox
  }

  /// The name of a process's program, as the daemon reads it.
  private func name(_ pid: Int32) throws -> String {
    try String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
  }

  /// The entries of values that were asked for and of keys that were used: the action, the outcome, the item and the
  /// detail of each.
  private func entries(_ sandbox: Sandbox) throws -> [String] {
    let audit = try sandbox.client().call("Audit", [:], more: true)
    let entries = try #require(audit.parameters["entries"] as? [WireClient.Message])
    let texts = entries.map { entry in
      ["action", "outcome", "item", "detail"].compactMap { entry[$0] as? String }.joined(separator: " ")
    }
    return texts.filter { $0.hasPrefix("get ") || $0.hasPrefix("use ") }
  }

  @Test("ten who read at once have one question asked, and one unlock serves them all") func tenReaders() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    _ = try sandbox.outcome("Lock")
    #expect(try agent.event()["notice"] as? String == "locked")
    let processes = try (0..<10).map { _ in try OtherProcess(in: sandbox) }
    let readers = try processes.map { try $0.connect() }
    for reader in readers { try reader.begin("Get", ["name": "web", "ask": true, "reason": "to work"]) }
    var told: WireClient.Message
    repeat {
      told = try agent.inquiry()
      #expect(told["about"] as? String == "unlock", "\(told)")
    } while told.askerCount != 10
    let asker = try #require(told.askers.first)
    #expect(told.askers.count == 8 && asker["reason"] as? String == "to work", "\(told)")
    let chain = try #require(asker["chain"] as? [String])
    #expect(try Array(chain.prefix(2)) == [name(processes[0].pid), name(getpid())], "\(asker)")
    #expect(asker["uid"] as? Int == Int(getuid()), "\(asker)")
    #expect(processes.contains { Int($0.pid) == asker["pid"] as? Int }, "\(asker)")
    #expect(try sandbox.answer("Unlock") == "")
    for reader in readers { #expect(try reader.reply().outcome == "hunter2") }
    #expect(try agent.withdrawal() == "answered")
    #expect(try agent.event()["notice"] as? String == "unlocked")
  }

  @Test("a dismissal ends all that were asked for, and those that come in the next minute") func dismissal() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    _ = try sandbox.outcome("Lock")
    let readers = try (0..<10).map { _ in try sandbox.ask("Get", ["name": "web", "ask": true]) }
    let waiting = try sandbox.ask("Get", ["name": "web", "wait_ms": 60000])
    var told: WireClient.Message
    repeat { told = try agent.nextInquiry() } while told.askerCount != 11
    let number = try #require(told.number)
    let dismissed = try sandbox.client().call("Dismiss", ["inquiry": number])
    #expect(dismissed.error == nil && dismissed.parameters.isEmpty, "\(dismissed)")
    for reader in readers { #expect(try reader.reply().outcome == "Cancelled") }
    #expect(try agent.withdrawal() == "dismissed")
    #expect(try sandbox.outcome("Get", ["name": "web", "ask": true]) == "Cancelled")
    #expect(try sandbox.outcome("Get", ["name": "web"]) == "Locked")
    #expect(try sandbox.outcome("Dismiss", ["inquiry": number]) == "NoSuchRequest")
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try waiting.reply().outcome == "hunter2")
  }

  @Test("with no agent nobody waits for one") func nobody() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    #expect(try sandbox.outcome("Get", ["name": "bank", "ask": true]) == "PresenceRequired")
    #expect(try sandbox.outcome("Get", ["name": "bank", "wait_ms": 60000]) == "PresenceRequired")
    _ = try sandbox.outcome("Lock")
    #expect(try sandbox.outcome("Get", ["name": "web", "ask": true]) == "Locked")
    #expect(try sandbox.outcome("Get", ["name": "web", "ask": true, "wait_ms": 60000]) == "Locked")
  }

  @Test("presence that an agent brings counts for the session that waits, and for no other") func presence() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let reader = try sandbox.ask("Get", ["name": "bank", "ask": true])
    let told = try agent.inquiry()
    #expect(["about", "name", "require"].map { told[$0] as? String } == ["presence", "bank", "password"], "\(told)")
    let number = try #require(told.number)
    // Another process of the user may neither answer nor dismiss it.
    for method in ["Dismiss", "Authenticate"] {
      let other = try sandbox.ask(method, ["inquiry": number], more: method != "Dismiss")
      #expect(try other.reply().outcome == "Denied this process was not asked")
    }
    let both: WireClient.Message = ["inquiry": number, "name": "bank"]
    #expect(try sandbox.outcome("Authenticate", both, more: true) == "InvalidParameter")
    #expect(try sandbox.answer("Authenticate", ["inquiry": number]) == "")
    #expect(try reader.reply().outcome == "1234")
    #expect(try agent.withdrawal() == "answered")
    #expect(try sandbox.outcome("Get", ["name": "bank"]) == "PresenceRequired")
    #expect(try sandbox.ask("Get", ["name": "bank"]).reply().outcome == "PresenceRequired")
  }

  @Test("the first answer counts, and an agent that goes away leaves the question to the other") func twoAgents() throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    var (first, second): (AttendingClient?, AttendingClient?) = try (.init(sandbox), .init(sandbox))
    _ = try sandbox.outcome("Lock")
    let reader = try sandbox.ask("Get", ["name": "web", "ask": true])
    for agent in [first, second] { _ = try agent?.nextInquiry() }
    first = nil
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try reader.reply().outcome == "hunter2")
    #expect(try second?.withdrawal() == "answered")
    _ = try sandbox.outcome("Lock")
    let next = try sandbox.ask("Get", ["name": "web", "ask": true])
    _ = try second?.nextInquiry()
    second = nil
    #expect(try next.reply().outcome == "Locked")
  }

  @Test("an agent that cannot ask says so, and who waits has the answer that there is without it") func unable() throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let reader = try sandbox.ask("Get", ["name": "bank", "ask": true])
    let number = try #require(agent.inquiry().number)
    let dismissed = try sandbox.client().call("Dismiss", ["inquiry": number, "unable": true])
    #expect(dismissed.error == nil && dismissed.parameters.isEmpty, "\(dismissed)")
    #expect(try reader.reply().outcome == "PresenceRequired")
    #expect(try agent.withdrawal() == "gone")
  }

  @Test("a call whose client goes away is asked for no more") func clientGone() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    var reader: WireClient? = try sandbox.client()
    try reader?.begin("Get", ["name": "bank", "ask": true])
    _ = try agent.inquiry()
    reader = nil
    #expect(try agent.withdrawal() == "gone")
  }

  @Test("a lock that hides names takes back the question for an item, and refuses who waits") func hidden() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let reader = try sandbox.ask("Get", ["name": "bank", "ask": true])
    _ = try agent.inquiry()
    _ = try sandbox.outcome("Lock")
    let told = try [agent.event(), agent.event()].map { $0["why"] as? String ?? $0["notice"] as? String ?? "" }
    #expect(told.sorted() == ["gone", "locked"])
    #expect(try reader.reply().outcome == "Locked")
    #expect(try sandbox.answer("Unlock") == "")
    #expect(try entries(sandbox) == ["get locked bank"])
  }

  @Test(
    "a call that a dismissal has ended is over: nothing of it comes later, and nothing stays where names are hidden")
  func over() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    // Swift keeps a short string inline and a long one elsewhere in memory, so test both.
    let names = [14, 14, 14, 14, 40, 40, 40, 40].map { length in
      String((0..<length).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
    }
    for name in names { try sandbox.must(["set", name, "--require", "password"], stdin: "x") }
    let (agent, unread) = (try AttendingClient(sandbox), try AttendingClient(sandbox))
    var dismissed: [WireClient] = []
    var left: WireClient?
    for (index, name) in names.enumerated() {
      let client = try sandbox.client()
      let reason = String(name.reversed())
      try client.begin("Get", ["name": name, "ask": true, "reason": reason, "wait_ms": 1000])
      let told = try agent.inquiry()
      #expect(told["name"] as? String == name, "\(told)")
      if index == 5 {
        left = client
        continue
      }
      #expect(try sandbox.client().call("Dismiss", ["inquiry": #require(told.number)]).error == nil)
      #expect(try client.reply().outcome == "Cancelled")
      #expect(try agent.withdrawal() == "dismissed")
      dismissed.append(client)
    }
    _ = try sandbox.outcome("Lock")
    // By its end the time of all others is over as well.
    #expect(try sandbox.outcome("Get", ["name": "web", "wait_ms": 1500]) == "TimedOut")
    for client in dismissed { #expect(try client.call("Get", ["name": "web"]).outcome == "Locked") }
    withExtendedLifetime((unread, left)) {}
    guard MemorySearch.isPossible else { return }
    let sought = Dictionary(
      uniqueKeysWithValues: (names + names.map { String($0.reversed()) }).map { ($0, Array($0.utf8)) })
    #expect(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(sought).isEmpty)
  }

  @Test("a change of the item has a call that waits for presence look once more, and wait on") func changed() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    let reader = try sandbox.ask("Get", ["name": "bank", "ask": true])
    let number = try #require(agent.inquiry().number)
    // A grant's presence: the password that was just given counts.
    for value in 0..<3 {
      let set = try sandbox.client().call("Set", ["name": "bank", "value": "\(value)", "update": true])
      #expect(set.error != "Denied", "\(set)")
    }
    // These calls let the daemon finish the work that the changes have caused.
    for _ in 0..<50 { _ = try sandbox.outcome("Status") }
    #expect(try entries(sandbox) == [])
    #expect(try sandbox.answer("Authenticate", ["inquiry": number]) == "")
    #expect(try reader.reply().outcome == "2")
    #expect(try entries(sandbox) == ["get ok bank"])
  }

  @Test("a call that waits for presence leaves one entry, that of its end") func oneEntry() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["set", "key", "--require", "password", "--generate", "ed25519", "--use", "sign"])
    #expect(try sandbox.ask("Get", ["name": "bank"]).reply().outcome == "PresenceRequired")
    let agent = try AttendingClient(sandbox)
    let calls: [(method: String, parameters: WireClient.Message)] = [
      ("Get", ["name": "bank", "ask": true]), ("Sign", ["name": "key", "value": "x", "ask": true]),
    ]
    for (method, parameters) in calls {
      let late = try sandbox.ask(method, parameters.merging(["wait_ms": 1500]) { $1 })
      _ = try agent.inquiry()
      #expect(try late.reply().outcome == "TimedOut")
      #expect(try agent.withdrawal() == "gone")
      let reader = try sandbox.ask(method, parameters)
      let number = try #require(agent.inquiry().number)
      #expect(try sandbox.answer("Authenticate", ["inquiry": number]) == "")
      #expect(try agent.withdrawal() == "answered")
      #expect(try reader.reply().error == nil)
      let dismissed = try sandbox.ask(method, parameters)
      #expect(try sandbox.client().call("Dismiss", ["inquiry": #require(agent.inquiry().number)]).error == nil)
      #expect(try agent.withdrawal() == "dismissed")
      #expect(try dismissed.reply().outcome == "Cancelled")
    }
    #expect(
      try entries(sandbox) == [
        "get presence bank", "get presence bank", "get ok bank", "get cancelled bank", "use presence key signature",
        "use ok key signature", "use cancelled key signature",
      ])
  }

  @Test("a wrong password is told of") func failedUnlock() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let agent = try AttendingClient(sandbox)
    _ = try sandbox.outcome("Lock")
    #expect(try agent.event()["notice"] as? String == "locked")
    #expect(try sandbox.answer("Unlock", with: "wrong")?.hasPrefix("AuthenticationFailed") == true)
    let told = try agent.event()
    #expect(told["notice"] as? String == "failed-unlock", "\(told)")
    #expect((told["asker"] as? WireClient.Message)?["pid"] as? Int == Int(getpid()), "\(told)")
  }
}
