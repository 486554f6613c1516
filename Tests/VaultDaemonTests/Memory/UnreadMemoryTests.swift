import CLinux
import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// Data on its way to a client that does not read, or from a client that has not finished, when the vault is locked.
@Suite(
  "What a lock finds on its way",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct UnreadMemoryTests {
  private static let settings = "idle = off\nmax-requests-per-second = 100000"
  private static let password = "correct horse battery"

  private func stand(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: Self.password, config: Self.settings + "\n" + settings)
    try sandbox.unlock(Self.password)
    return sandbox
  }

  /// Makes a value that repeats a word of its own.
  private static func value(_ word: String, _ count: Int) -> String {
    String(repeating: word + ".", count: count / (word.utf8.count + 1))
  }

  private static func frame(_ method: String, _ parameters: WireClient.Message, more: Bool = false) throws -> [UInt8] {
    var call: WireClient.Message = ["method": "io.vaultd.Vault." + method, "parameters": parameters]
    if more { call["more"] = true }
    return [UInt8](try JSONSerialization.data(withJSONObject: call)) + [0]
  }

  private func succeed(_ reply: WireClient.Reply) throws {
    if let error = reply.error { throw SandboxError("\(error) \(reply)") }
  }

  private func store(_ name: String, _ value: String, _ accessible: String, _ sandbox: Sandbox) throws {
    try succeed(sandbox.client().call("Set", ["name": name, "value": value, "accessible": accessible]))
  }

  /// Makes calls without reading; returns once the daemon has answered as far as the sockets take it.
  private func ask(_ calls: [[UInt8]], _ sandbox: Sandbox) throws -> [WireClient] {
    let clients = try calls.map { call in
      let client = try sandbox.client()
      client.send(call)
      return client
    }
    // Each call came before these, and was handled or is being handled.
    for _ in 0..<5 { try succeed(sandbox.client().call("Status")) }
    return clients
  }

  private func found(_ words: [String], _ sandbox: Sandbox) throws -> Set<String> {
    let keys = Dictionary(uniqueKeysWithValues: words.map { ($0, Array($0.utf8)) })
    return Set(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(keys).keys)
  }

  /// Searches until all of these words are found and none of the others.
  private func expectFound(_ words: [String], not others: [String] = [], _ sandbox: Sandbox) throws {
    let end = time(nil) + 30
    var there = try found(words + others, sandbox)
    while there != Set(words), time(nil) < end { there = try found(words + others, sandbox) }
    #expect(there == Set(words))
  }

  @Test("a value that is not read goes with the lock, whatever its size; one of another class stays")
  func values() throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    // The two ends of a socket buffer some 200 kB.
    let sizes = [230_000, 250_000, 300_000, 1_000_000]
    let words = sizes.map { _ in KeyStage.word() }
    for (word, size) in zip(words, sizes) { try store("\(size)", Self.value(word, size), "when-unlocked", sandbox) }
    let after = KeyStage.word()
    let always = KeyStage.word()
    try store("after", Self.value(after, 250_000), "after-first-unlock", sandbox)
    try store("always", Self.value(always, 250_000), "always", sandbox)
    let clients = try ask(sizes.map { try Self.frame("Get", ["name": "\($0)"]) }, sandbox)
    let others = try ask(["after", "always"].map { try Self.frame("Get", ["name": $0]) }, sandbox)
    // The positive control: the search finds the words before the lock.
    try expectFound(words + [after, always], sandbox)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found(words + [after, always], sandbox) == [after, always])
    for client in clients { #expect(try client.receiveBytes() == nil, "the rest of a value after the lock") }
    for client in others { #expect(try client.reply().error == nil) }
    try sandbox.unlock(Self.password)
    #expect(try sandbox.client().call("Get", ["name": "230000"]).string("value")?.hasPrefix(words[0]) == true)
  }

  /// Calls whose replies hold something computed from a value, and the item that has the value.
  static let made: [(method: String, item: [String: String])] = [
    ("Mac", ["use": "mac", "value": String(repeating: "k", count: 32)]),
    ("Sign", ["use": "sign"]), ("IssueToken", ["use": "jwt"]),
    ("Code", ["kind": "totp"]), ("Show", ["kind": "totp"]),
  ]

  @Test("what was made of a value, and is not read, goes with the lock", arguments: made.indices)
  func madeOfValues(_ index: Int) throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let (method, item) = Self.made[index]
    let account = KeyStage.word()
    var parameters: WireClient.Message = ["name": "a"]
    for (key, value) in item { parameters[key] = value }
    switch method {
    case "Sign": parameters["generate"] = ["style": "ed25519"]
    case "IssueToken": parameters["generate"] = ["style": "hmac"]
    case "Code", "Show": parameters["value"] = "otpauth://totp/Example:\(account)?secret=JBSWY3DPEHPK3PXP"
    default: break
    }
    try succeed(sandbox.client().call("Set", parameters))
    var call: WireClient.Message = ["name": "a"]
    if ["Mac", "Sign"].contains(method) { call["value"] = "message" }
    let reply = try sandbox.client().call(method, call)
    try succeed(reply)
    // The search is for a part that every such reply has.
    let part: String? =
      switch method {
      case "Mac": reply.string("mac")
      case "Sign": reply.string("signature")
      case "IssueToken": reply.string("token").map { String($0.prefix { $0 != "." }) }
      // So few digits would be found by chance, and they change; these bytes come right before them.
      case "Code": ":30,\"code\":\""
      default: account
      }
    let text = try #require(part, "\(reply)")
    let client = try sandbox.client()
    let frame = try Self.frame(method, call)
    // The replies to Code are so short that the socket would take 3000 of them.
    let count = method == "Code" ? 6000 : 3000
    client.send(Array((0..<count).map { _ in frame }.joined()))
    try expectFound([text], sandbox)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found([text], sandbox) == [])
    withExtendedLifetime(client) {}
  }

  @Test("of a value that is being read what the socket has taken is gone, without a lock") func part() throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let (first, second, rest) = (KeyStage.word(), KeyStage.word(), KeyStage.word())
    let value = Self.value(first, 20_000) + Self.value(second, 300_000) + Self.value(rest, 600_000)
    try store("a", value, "when-unlocked", sandbox)
    let clients = try ask([try Self.frame("Get", ["name": "a"])], sandbox)
    try expectFound([second, rest], sandbox)
    #expect(try found([first, second, rest], sandbox) == [second, rest])
    // The part that the socket takes later, as the client reads on, is gone from memory as well.
    #expect(try clients[0].receive(count: 400_000) != nil)
    try expectFound([rest], not: [first, second], sandbox)
    withExtendedLifetime(clients) {}
  }

  @Test("small values that are not read go as well, together with the one in the middle of which the socket was full")
  func small() throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let words = (0..<4).map { _ in KeyStage.word() }
    for (index, word) in words.enumerated() {
      try store("\(index)", Self.value(word, 100_000), "when-unlocked", sandbox)
    }
    let client = try sandbox.client()
    client.send(try words.indices.flatMap { try Self.frame("Get", ["name": "\($0)"]) })
    try expectFound([words[2], words[3]], sandbox)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found(words, sandbox) == [])
    withExtendedLifetime(client) {}
  }

  @Test("with hide-names no name stays of what is not read, nor in an open prompt") func names() throws {
    let sandbox = try stand("hide-names = true")
    defer { sandbox.close() }
    let listed = (0..<24).map { _ in KeyStage.word() }
    for chunk in listed {
      let items = (0..<100).map { ["name": "\(chunk)/\($0)/\(String(repeating: "y", count: 180))", "value": "x"] }
      try succeed(sandbox.client().call("SetMany", ["items": items]))
    }
    let prompted = KeyStage.word()
    try succeed(
      sandbox.client().call("Set", ["name": prompted, "value": "x", "require": "password", "reuse": 1]))
    // Repeat until the presence proven by the unlock is older than a second.
    var reply: WireClient.Reply
    var asking: WireClient
    repeat {
      asking = try sandbox.client()
      reply = try asking.call("Authenticate", ["name": prompted, "interactive": true], more: true)
    } while reply.prompt == nil && reply.error == nil
    #expect((reply.prompt?["text"] as? String)?.contains(prompted) == true)
    let clients = try ask([try Self.frame("Find", [:], more: true)], sandbox)
    try expectFound([prompted], sandbox)
    #expect(try !found(listed, sandbox).isEmpty)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found(listed + [prompted], sandbox) == [])
    #expect(try asking.reply().error == "Cancelled")
    #expect(clients.count == 1)
  }

  @Test("a frame that is not whole, and calls behind one that waits, are wiped and refused, and can be made again")
  func received() throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let words = (0..<3).map { _ in KeyStage.word() }
    let half = try sandbox.client()
    half.send(try Self.frame("Set", ["name": "half", "value": Self.value(words[0], 5000)]).dropLast(3))
    let behind = try sandbox.client()
    #expect(try behind.call("Monitor", more: true).error == nil)
    behind.send(try Self.frame("Set", ["name": "behind", "value": Self.value(words[1], 5000)]))
    behind.send(try Self.frame("Respond", ["conversation": "0", "answer": Self.value(words[2], 5000)]))
    try succeed(sandbox.client().call("Status"))
    try expectFound(words, sandbox)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found(words, sandbox) == [])
    for client in [half, behind] {
      #expect(try client.reply().error == "Locked")
      #expect(try client.receive() == nil)
    }
    try sandbox.unlock(Self.password)
    #expect(try sandbox.client().call("Show", ["name": "half"]).error == "NoSuchItem")
    #expect(try sandbox.client().call("Show", ["name": "behind"]).error == "NoSuchItem")
  }

  @Test("a lock leaves nothing of what came behind a frame that ended the connection", arguments: [0, 3])
  func behindBadFrame(missing: Int) throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let word = KeyStage.word()
    let client = try sandbox.client()
    let call = try Self.frame("Set", ["name": "behind", "value": Self.value(word, 5000)])
    client.send(Array(#"{"bad"#.utf8) + [0] + call.dropLast(missing))
    #expect(try client.reply().error == "InvalidFrame")
    // No later bytes are left either.
    client.send(call)
    try succeed(sandbox.client().call("Lock"))
    #expect(try found([word], sandbox) == [])
    withExtendedLifetime(client) {}
  }

  @Test("what came in one go with the call that locks is handled, and calls that wait alone are not called off")
  func others() throws {
    let sandbox = try stand()
    defer { sandbox.close() }
    let watching = try sandbox.client()
    #expect(try watching.call("Monitor", more: true).error == nil)
    let client = try sandbox.client()
    client.send(try Self.frame("Lock", [:]) + Self.frame("Status", [:]))
    #expect(try client.reply().error == nil)
    #expect(try client.reply().string("state") == "locked")
    #expect(try client.call("Status").error == nil)
    #expect(try watching.reply().string("state") == "locked")
  }

  @Test("that holds where the lock took so long that it is the others' turn, too") func slowLock() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      let turns = client.assembly.turns
      turns.charge(Line(of: 1), since: client.now - Turns.length)
      client.send(["Lock", "Status"].map { "{\"method\":\"io.vaultd.Vault.\($0)\"}\0" }.joined())
      // The other line's work runs after the first call and before the second.
      turns.wait(Line(of: 2)) {}
    }
    try stand.goRound("the calls") { !$0.hasWork }
    try stand.on { $0.call("Status") }
    try stand.goRound("the last call") { !$0.hasWork }
    let messages = try stand.on { $0.messages() }
    #expect(messages.count == 3 && !messages.contains { $0.contains("error") }, "\(messages)")
    #expect(messages.dropFirst().allSatisfy { $0.contains("\"state\":\"locked\"") })
  }

  @Test("before the inhibitor goes, an unread value of after-first-unlock is wiped too, and its connection closed")
  func sleep() throws {
    let stand = try LockStand()
    let sandbox = stand.sandbox
    let words = (0..<2).map { _ in KeyStage.word() }
    try store("when", Self.value(words[0], 250_000), "when-unlocked", sandbox)
    try store("after", Self.value(words[1], 250_000), "after-first-unlock", sandbox)
    let clients = try ask(["when", "after"].map { try Self.frame("Get", ["name": $0]) }, sandbox)
    try expectFound(words, sandbox)
    let pid = try #require(sandbox.daemonPid)
    let trace = sandbox.root + "/trace"
    let script = """
      strace -f -y -e trace=close -o \(trace) -p \(pid) 2>\(trace).log & tracer=$!
      until grep -q attached \(trace).log; do kill -0 $tracer || exit 1; done
      busctl --address=\(stand.system.address) call org.freedesktop.login1 \(LockStand.logindPath) \
        org.freedesktop.DBus.Mock EmitSignal sssav \(LockStand.manager) PrepareForSleep b 1 b true
      until grep -q 'close(.*pipe:' \(trace); do kill -0 $tracer || exit 1; done
      kill $tracer; wait $tracer; exit 0
      """
    let outcome = try sandbox.run("-c", script, program: "/bin/sh")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try found(words, sandbox) == [])
    // A connection is closed only after its memory was wiped.
    let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let inhibitor = try #require(lines.firstIndex { $0.contains("close(") && $0.contains("pipe:") })
    #expect(lines[..<inhibitor].filter { $0.contains("close(") && $0.contains("socket:") }.count >= 2, "\(lines)")
    for client in clients { #expect(try client.receiveBytes() == nil) }
  }
}

@Suite("Long answers") struct LongAnswersTests {
  @Test(
    "a client that has closed its half is sent all of one, and then the end", arguments: [100_000, 250_000, 1_000_000])
  func closedHalf(size: Int) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    let value = String(repeating: "v", count: size)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": value]).error == nil)
    let client = try sandbox.client()
    client.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"a"}}"#)
    client.finishSending()
    // This call is answered behind the first one, whose answer nobody has read by then.
    #expect(try sandbox.client().call("Status").error == nil)
    #expect(try client.reply().string("value") == value)
    #expect(try client.receive() == nil)
  }
}
