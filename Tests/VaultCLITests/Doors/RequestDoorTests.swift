import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Requests at the socket", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct RequestDoorTests {
  /// Makes a machine's vault, unlocked, that every user reaches.
  private func sandbox(_ settings: String = "", granting grant: [String] = []) throws -> Sandbox {
    let sandbox = try Sandbox()
    let settings = try sandbox.write(settings, to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(
      ["init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2"],
      stdin: "correct horse battery\n")
    for name in ["a", "b"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    if !grant.isEmpty { try sandbox.must(["grant"] + grant) }
    try sandbox.admitEveryone()
    return sandbox
  }

  private static func word(_ length: Int) -> String {
    String((0..<length).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  /// The user who runs the tests, an administrator of the vault.
  private struct Owner {
    let connection: WireClient

    init(_ sandbox: Sandbox) throws { connection = try sandbox.client() }

    func requests() throws -> [WireClient.Message] {
      var found: [WireClient.Message] = []
      var reply = try connection.call("Requests", more: true)
      while true {
        found += try #require(reply.parameters["requests"] as? [WireClient.Message], "\(reply)")
        guard reply.continues else { return found }
        reply = try connection.reply()
      }
    }

    /// Waits for the request with these words, and returns its number.
    func number(of reason: String) throws -> Int {
      var number: Int?
      try wait(for: "the request") {
        number = try requests().first { $0["reason"] as? String == reason }?.number
        return number != nil
      }
      return try #require(number)
    }

    func approve(_ number: Int, _ terms: WireClient.Message = [:]) throws {
      let done = try connection.call("Approve", terms.merging(["number": number]) { $1 })
      try #require(done.error == nil, "\(done)")
    }
  }

  private func asker(_ sandbox: Sandbox) throws -> OtherProcess {
    try OtherProcess(in: sandbox, uid: OtherProcess.nobody)
  }

  private static let deniedForNow =
    "Denied an administrator has denied this; it may be requested again in 1 min"

  @Test("a caller that waits has its value when it is approved, and is refused when it is denied or its time is up")
  func answers() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    let own = try asker(sandbox).connect()
    func begin(_ name: String, _ reason: String) throws {
      try own.begin("Get", ["name": name, "reason": reason, "wait_ms": 60000])
    }
    try begin("a", "one")
    try owner.approve(owner.number(of: "one"))
    #expect(try own.reply().outcome == "value of a")
    try begin("a", "two")
    let denied = try owner.connection.call("Deny", ["number": owner.number(of: "two")])
    #expect(denied.parameters as? [String: String] == ["subject": "user:nobody", "name": "a"], "\(denied)")
    #expect(try own.reply().outcome == Self.deniedForNow)
    #expect(try own.call("Get", ["name": "b", "reason": "three", "wait_ms": 100]).outcome == "Unanswered")
    // The same request as the one whose caller waits no longer.
    try begin("b", "four")
    try owner.approve(owner.number(of: "four"), ["uses": 2])
    #expect(try own.reply().outcome == "value of b")
  }

  @Test("an approval of a session is for one process, and gone at a lock") func session() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    let asker = try asker(sandbox)
    let own = try asker.connect()
    try own.begin("Get", ["name": "a", "reason": "one", "wait_ms": 60000])
    let one = try owner.number(of: "one")
    let wrong = try owner.connection.call("Approve", ["number": one, "session": true, "pid": 1])
    #expect(wrong.error == "Busy", "\(wrong)")
    // An earlier process with the same pid, as far as its start time says.
    let shown = try #require(owner.requests().first?["started"] as? Int)
    let earlier: WireClient.Message = ["number": one, "session": true, "pid": Int(asker.pid), "started": shown - 1]
    #expect(try owner.connection.call("Approve", earlier).error == "Busy")
    try owner.approve(one, ["session": true, "pid": Int(asker.pid), "started": shown])
    #expect(try own.reply().outcome == "value of a")
    #expect(try asker.fork().connect().call("Get", ["name": "a"]).outcome == "Denied you may not do this")
    #expect(try asker.connect().call("Get", ["name": "a"]).outcome == "value of a")
    try own.begin("Get", ["name": "b", "reason": "two", "wait_ms": 60000])
    let two = try owner.number(of: "two")
    let requests = try owner.requests()
    #expect(requests.map { $0["state"] as? String } == ["pending", "approved"], "\(requests)")
    #expect(requests.allSatisfy { $0["pid"] as? Int == Int(asker.pid) }, "\(requests)")
    _ = try owner.connection.call("Lock")
    #expect(try owner.requests().map { $0["state"] as? String } == ["pending"])
    _ = try owner.connection.call("Deny", ["number": two])
    #expect(try own.reply().outcome == Self.deniedForNow)
  }

  @Test("a request of a process that has ended gives nobody anything, and costs no approval") func ended() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    let process = try asker(sandbox)
    let first = try process.connect()
    try first.begin("Get", ["name": "a", "reason": "one", "wait_ms": 60000])
    let one = try owner.number(of: "one")
    // The process that connected ends, while this one has its socket.
    process.end()
    let second = try asker(sandbox).connect()
    try second.begin("Get", ["name": "b", "reason": "two", "wait_ms": 60000])
    let two = try owner.number(of: "two")
    try owner.approve(one)
    try wait(for: "the approval") {
      try !owner.requests().contains { $0.number == one && $0["state"] as? String == "pending" }
    }
    let uses = try owner.requests().filter { $0["state"] as? String == "approved" }.map { $0["uses"] as? Int }
    #expect(uses == [1])
    try owner.approve(two)
    #expect(try second.reply().outcome == "value of b")
    first.limit(seconds: 1)
    #expect(!String(decoding: first.receiveRest(), as: UTF8.self).contains("value of a"))
  }

  @Test("where names are hidden a lock ends what waits, and leaves none of the names in memory") func hidden() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    // Swift keeps a short string inline in the list and a long one elsewhere in memory, so test both.
    let names = (1...3).map { _ in Self.word(40) } + (1...12).map { _ in Self.word(14) }
    func reason(_ name: String) -> String { String(name.prefix(13)) }
    let asker = try asker(sandbox)
    let (waiting, own) = (try asker.connect(), try asker.connect())
    try waiting.begin("Get", ["name": "a", "reason": "one", "wait_ms": 60000])
    for name in names { _ = try own.call("Get", ["name": name, "reason": reason(name)]) }
    _ = try owner.number(of: reason(names[14]))
    _ = try owner.connection.call("Deny", ["number": owner.number(of: reason(names[3]))])
    _ = try owner.connection.call("Lock")
    #expect(try owner.requests().isEmpty)
    #expect(try waiting.reply().outcome == "Locked")
    guard MemorySearch.isPossible else { return }
    let words = Dictionary(uniqueKeysWithValues: names.map { ($0, Array($0.utf8)) })
    #expect(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(words).isEmpty)
  }

  @Test("administrators alone are told of requests, by their numbers") func events() throws {
    let sandbox = try sandbox(granting: ["user:65534", "b", "--can", "watch"])
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    let asker = try asker(sandbox)
    let (theirs, ours) = (try asker.connect(), try sandbox.client())
    #expect(try theirs.call("Monitor", more: true).string("event") == "state")
    _ = try ours.call("Monitor", more: true)
    let own = try asker.connect()
    try own.begin("Get", ["name": "a", "reason": "one", "wait_ms": 60000])
    let number = try owner.number(of: "one")
    try owner.approve(number)
    #expect(try own.reply().outcome == "value of a")
    var event: WireClient.Reply
    repeat { event = try ours.reply() } while event.string("event") != "request" || event.string("change") == "asked"
    #expect(event.integer("number") == number && event.string("change") == "approved", "\(event)")
    #expect(event.parameters["name"] == nil, "\(event)")
    _ = try owner.connection.call("Set", ["name": "b", "value": "x", "update": true])
    let told = try theirs.reply()
    #expect(told.string("event") == "item" && told.string("name") == "b", "\(told)")
  }

  @Test("an administrator's agent is told of a request, and its answer lets the caller go on; nobody else attends")
  func agent() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let owner = try Owner(sandbox)
    let agent = try AttendingClient(sandbox)
    let own = try asker(sandbox).connect()
    let refused = try own.call("Attend", ["faces": ["terminal"]], more: true)
    #expect(refused.outcome == "Denied this is for the vault's administrators")
    try own.begin("Get", ["name": "a", "reason": "one", "ask": true])
    let first = try agent.inquiry()
    #expect(["about", "name", "subject"].map { first[$0] as? String } == ["approval", "a", "user:nobody"], "\(first)")
    let asker = try #require(first.askers.first)
    #expect(asker["uid"] as? Int == 65534 && asker["reason"] as? String == "one", "\(first)")
    try owner.approve(try #require(first.number))
    #expect(try own.reply().outcome == "value of a")
    var event: WireClient.Message
    repeat { event = try agent.event() } while (event["inquiry"] as? WireClient.Message)?["name"] as? String == "a"
    #expect(event["why"] as? String == "answered" && event.number == first.number, "\(event)")
    try own.begin("Get", ["name": "b", "reason": "two", "ask": true])
    var second: WireClient.Message
    repeat {
      second = try agent.inquiry()
      #expect(second["name"] as? String == "b", "\(second)")
    } while second.askerCount != 1
    let dismissed = try owner.connection.call("Dismiss", ["inquiry": #require(second.number)])
    #expect(dismissed.error == nil && dismissed.parameters.isEmpty, "\(dismissed)")
    #expect(try owner.requests().first?.number == second.number)
    #expect(try own.reply().outcome == "Cancelled")
  }
}
