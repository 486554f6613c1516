import CLinux
import Foundation
import Testing
import VaultTesting

@Suite("Secrets in the daemon's memory") struct SecretsTests {
  /// Puts a mixed load on the daemon: text and bytes, large and small values, versions, many connections, errors.
  private func load(_ sandbox: Sandbox, values: [String: [UInt8]]) throws {
    let client = try sandbox.client()
    for (name, value) in values {
      let field: WireClient.Message =
        String(validating: value, as: UTF8.self).map { ["value": $0] } ?? ["data": Data(value).base64EncodedString()]
      let set = try client.call("Set", field.merging(["name": name]) { old, _ in old })
      #expect(set.error == nil)
      #expect(try client.call("Set", field.merging(["name": name]) { old, _ in old }).error == "AlreadyExists")
      #expect(try client.call("Set", field.merging(["name": name, "update": true]) { old, _ in old }).error == nil)
    }
    for _ in 0..<3 {
      let other = try sandbox.client()
      for name in values.keys.sorted() {
        #expect(try other.call("Get", ["name": name]).error == nil)
        #expect(try other.call("Get", ["name": name, "version": 1]).error == nil)
        _ = try other.call("Get", ["name": name + "/none"])
      }
    }
    // One client leaves in the middle of a frame, and another does not read its answer.
    if let value = values.values.first(where: { String(validating: $0, as: UTF8.self) != nil }) {
      let text = String(decoding: value, as: UTF8.self)
      try sandbox.client().send(
        Array(#"{"method":"io.vaultd.Vault.Set","parameters":{"name":"half","value":"\#(text)"#.utf8))
    }
    try sandbox.client().send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"large"}}"#)
    // The answer to this call also proves that the daemon has read both.
    #expect(try client.call("Status").error == nil)
  }

  private func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255) } }

  private func randomText(_ count: Int) -> String {
    String((0..<count).map { _ in "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789+/".randomElement() ?? "x" })
  }

  @Test(
    "after a lock no password, no value and no key that opens one is left",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func nothingLeft() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = randomText(32)
    let wrong = randomText(32)
    try MachineClock(in: sandbox)
    let code = try #require(try sandbox.makeVault(password: password, config: "idle = off", recovery: true))
    #expect(try sandbox.unlock(wrong)?.error == "AuthenticationFailed")
    try sandbox.waitOut("password")
    #expect(try sandbox.unlock(password)?.error == nil)
    let values = [
      "small": Array(randomText(64).utf8),
      "escaped": Array("line\t\(randomText(40))\r\n\"quoted\\\(randomText(40))\"".utf8),
      "binary": random(200), "large": Array(randomText(300_000).utf8), "large-binary": random(700_000),
    ]
    try load(sandbox, values: values)
    let pid = try #require(sandbox.daemonPid)
    let keys = try VaultKeys(of: sandbox, password: password)

    // The positive control: while the vault is unlocked, the same search finds the key that the daemon holds.
    let unlocked = try MemorySearch(pid: pid)
    #expect(unlocked.find(keys.whenUnlockedValues) == ["raw"], "\(sandbox.daemonLog)")
    #expect(unlocked.size > 1 << 20)

    #expect(try sandbox.client().call("Lock").error == nil)
    let locked = try MemorySearch(pid: pid)
    #expect(locked.find(Array(password.utf8)) == [])
    #expect(locked.find(Array(wrong.utf8)) == [])
    #expect(locked.find(Array(code.utf8)) == [])
    #expect(locked.find(keys.whenUnlockedValues) == [])
    #expect(locked.find(keys.whenUnlockedClass) == [])
    #expect(locked.find(keys.vault) == [])
    for (name, value) in values {
      // Search only for the beginning and the end of a large value: all its windows would take minutes.
      #expect(locked.find(Array(value.prefix(256))) == [], "\(name)")
      #expect(locked.find(Array(value.suffix(256))) == [], "\(name)")
    }
  }

  @Test(
    "a lock calls off the making of a vault, from its beginning on, and leaves nothing of it",
    arguments: [false, true], [false, true])
  func initCalledOff(bySleep: Bool, answered: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let clock = try MachineClock(in: sandbox)
    try sandbox.startDaemon(config: "idle = off")
    let password = randomText(32)
    let asking = try sandbox.client()
    let parameters: WireClient.Message = ["recovery": true, "kdf_memory": 19 << 20, "kdf_passes": 2]
    var reply = try asking.call("Init", parameters, more: true)
    var code: String?
    if answered {
      let conversation = try #require(reply.string("conversation"))
      let answer = ["conversation": conversation, "answer": password]
      #expect(try sandbox.client().call("Respond", answer).error == nil)
      reply = try asking.reply()
      code = try #require(reply.prompt?["code"] as? String)
    }
    func find(_ secret: String) throws -> Set<String> {
      MemorySearch.isPossible ? try MemorySearch(pid: try #require(sandbox.daemonPid)).find(Array(secret.utf8)) : []
    }
    // The positive control: the code is kept for the comparison with the repeated one.
    if let code, MemorySearch.isPossible { #expect(try find(code) == ["raw"]) }
    if bySleep {
      try clock.sleep(seconds: 60)
      #expect(try sandbox.client().call("Status").string("state") == "new")
    } else {
      try sandbox.signalDaemon(SIGUSR1)
    }
    #expect(try asking.reply().error == "Cancelled")
    if let code { #expect(try find(code) == []) }
    #expect(try find(password) == [])
    #expect(try sandbox.converse("Init", parameters) { $0["code"] as? String ?? password }?.error == nil)
  }

  @Test(
    "hide-names also wipes the keys that open names and tags",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func hideNames() throws {
    for hides in [false, true] {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      let password = randomText(32)
      _ = try sandbox.makeVault(password: password, config: "idle = off\nhide-names = \(hides)")
      try sandbox.unlock(password)
      let client = try sandbox.client()
      #expect(try client.call("Set", ["name": "a", "value": "b"]).error == nil)
      let keys = try VaultKeys(of: sandbox, password: password)
      #expect(try client.call("Lock").error == nil)
      let locked = try MemorySearch(pid: try #require(sandbox.daemonPid))
      #expect(locked.find(keys.whenUnlockedMetadata) == (hides ? [] : ["raw"]))
      #expect(try client.call("Show", ["name": "a"]).error == (hides ? "Locked" : nil))
    }
  }

  @Test(
    "with hide-names a lock leaves no name and no attribute that was stored, read, listed or searched for",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func namesGone() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = randomText(32)
    _ = try sandbox.makeVault(password: password, config: "idle = off\nhide-names = true")
    try sandbox.unlock(password)
    // Each item has an attribute and a folder of its own, because a word shared by all would be found only once. Short
    // texts are stored inline, long ones in memory of their own.
    let items = (0..<300).map { number in
      number.isMultiple(of: 2)
        ? (name: "\(KeyStage.word())/\(KeyStage.word())", key: "k-\(KeyStage.word())", value: randomText(40))
        : (name: "\(KeyStage.word().prefix(14))", key: "k-\(KeyStage.word().prefix(12))", value: randomText(15))
    }
    let client = try sandbox.client()
    // Two clients read only the first reply: more than their sockets' buffers hold is being sent to them. A third
    // client reads.
    let unread = try ["Monitor", "Attend"].map { method in
      let client = try sandbox.client()
      #expect(try client.call(method, method == "Attend" ? ["faces": ["terminal"]] : [:], more: true).error == nil)
      return client
    }
    let watcher = try sandbox.client()
    #expect(try watcher.call("Monitor", more: true).error == nil)
    // The patterns of grants name items as well. The password just given counts as presence.
    let patterns = (0..<20).map { _ in "\(KeyStage.word())/\(KeyStage.word())" }
    for (number, pattern) in patterns.enumerated() {
      let subject = number.isMultiple(of: 2) ? "user:4242" : "user:\(OtherProcess.nobody)"
      let grant = try client.call(
        "Grant", ["subject": subject, "items": pattern + "/**", "rights": ["get", "find", "watch"]])
      #expect(grant.error == nil, "\(grant)")
    }
    for item in items {
      let set = try client.call(
        "Set", ["name": item.name, "value": "v", "attributes": [item.key: item.value], "require": "none"])
      #expect(set.error == nil, "\(set)")
      #expect(try watcher.reply().string("name") == item.name)
    }
    for item in items {
      #expect(try client.call("Get", ["name": item.name]).error == nil)
      #expect(try client.call("Show", ["name": item.name]).error == nil)
      #expect(try client.call("Get", ["name": item.name + "/none"]).error == "NoSuchItem")
    }
    let found = try client.call("Find", ["query": "name~\(items[0].name.prefix(30))*"])
    #expect(found.error == nil, "\(found)")
    #expect(try client.call("Find", ["query": "\(items[1].key)=\(items[1].value)"]).error == nil)
    let pid = try #require(sandbox.daemonPid)
    // The positive control: the last item read is still in memory.
    let unlocked = try MemorySearch(pid: pid)
    #expect(items.contains { unlocked.find(Array($0.name.utf8)).contains("raw") })
    #expect(patterns.allSatisfy { unlocked.find(Array($0.utf8)).contains("raw") })
    // The last events are being sent when the lock comes.
    for item in items.suffix(4) {
      #expect(try client.call("Set", ["name": item.name, "value": "w", "update": true]).error == nil)
    }
    #expect(try client.call("Lock").error == nil)
    // Once the reading client hears of the lock and Status is answered, the lock's work is done.
    while try watcher.reply().string("state") != "locked" {}
    #expect(try client.call("Status").string("state") == "locked")
    let locked = try MemorySearch(pid: pid)
    var words: [String: [UInt8]] = [:]
    for item in items {
      for word in [item.name, item.key, item.value] { words[word] = Array(word.utf8) }
    }
    for pattern in patterns { words[pattern] = Array(pattern.utf8) }
    let left = locked.find(words)
    #expect(left.isEmpty, "\(left.count) of \(words.count): \(left.prefix(5))")
    withExtendedLifetime(unread) {}
    // A call of another user has that user's grants opened, and no longer than for the call.
    guard geteuid() == 0 else { return }
    try sandbox.admitEveryone()
    let other = try OtherProcess(in: sandbox, uid: OtherProcess.nobody)
    let calls = try other.connect()
    // The positive control: without its grants, the caller may watch nothing.
    let watching = try other.connect()
    #expect(try watching.call("Monitor", more: true).error == nil)
    for method in ["Get", "Show", "Deposit"] {
      #expect(try calls.call(method, ["name": "no/such", "value": "v"]).error != nil, "\(method)")
    }
    #expect(try client.call("Status").string("state") == "locked")
    // They are dropped at the end of the loop's turn, which may come a moment after the answer.
    var after = try MemorySearch(pid: pid).find(words)
    for _ in 0..<20 where !after.isEmpty { after = try MemorySearch(pid: pid).find(words) }
    #expect(after.isEmpty, "\(after.count) of \(words.count): \(after.prefix(5))")
    withExtendedLifetime(watching) {}
  }

  /// Starts a daemon that may not lock memory without limit, with a limit in KiB.
  private static func start(_ sandbox: Sandbox, limit: Int) throws {
    let drop = geteuid() == 0 ? "setpriv --bounding-set=-ipc_lock" : "env"
    try sandbox.startDaemon(
      config: "idle = off",
      through: ["/bin/sh", "-c", "ulimit -l \(limit); exec \(drop) \(Sandbox.path(of: "vaultd")) \"$@\"", "sh"])
  }

  @Test(
    "where only the memory of libgcrypt could not be locked, that is shown once a key is made there",
    .disabled(if: Sanitizer.isPresent, "a sanitizer locks nothing"))
  func unlockedPool() throws {
    // The buffers take some 200 KiB, and the memory of libgcrypt takes 192 KiB more.
    var shown: [Int] = []
    for limit in stride(from: 192, through: 448, by: 64) where shown.isEmpty {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      try Self.start(sandbox, limit: limit)
      let parameters: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]
      #expect(try sandbox.converse("Init", parameters) { _ in "correct horse battery" }?.error == nil)
      try sandbox.unlock("correct horse battery")
      #expect(try !sandbox.warnings().contains { $0.contains("libgcrypt") })
      #expect(try sandbox.run(["set", "key", "--use", "ssh", "--generate", "rsa3072"]).status == 0)
      if try sandbox.warnings().contains(where: { $0.contains("libgcrypt") }) { shown.append(limit) }
    }
    #expect(!shown.isEmpty)
  }

  @Test(
    "every buffer that could not be locked in memory is counted and shown, also when only the keys were too many",
    .disabled(if: Sanitizer.isPresent, "a sanitizer locks nothing"))
  func unlockedBuffers() throws {
    func warning(_ sandbox: Sandbox) throws -> (unlocked: Int, of: Int)? {
      let warnings = try sandbox.warnings()
      guard let text = warnings.first(where: { $0.contains("raise RLIMIT_MEMLOCK") }) else { return nil }
      let words = text.split(separator: " ")
      return (try #require(Int(words[0])), try #require(Int(words[2])))
    }
    for limit in [0, 96] {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      try Self.start(sandbox, limit: limit)
      let before = try warning(sandbox)
      if limit > 0 { #expect(before == nil) } else { #expect(before.map { $0.unlocked == $0.of } == true) }
      let parameters: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]
      #expect(try sandbox.converse("Init", parameters) { _ in "correct horse battery" }?.error == nil)
      try sandbox.unlock("correct horse battery")
      let after = try #require(try warning(sandbox))
      #expect(after.unlocked > 0 && after.unlocked <= after.of)
      if limit > 0 { #expect(after.unlocked < after.of) }
    }
  }

  @Test("the daemon cannot be dumped or traced by its own user") func notDumpable() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    var command: [String]?
    var uid = geteuid()
    if uid == 0 {
      // The /proc files of root's processes always belong to root, so use another user.
      uid = 65534
      let program = sandbox.root + "/vaultd"
      let made = try sandbox.run(
        "-c",
        "cp \(Sandbox.path(of: "vaultd")) \(program) && chmod 711 \(sandbox.root) && chown -R 65534 \(sandbox.root)",
        program: "/bin/sh")
      try #require(made.status == 0, "\(made)")
      command = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
    }
    try sandbox.startDaemon(through: command)
    let pid = try #require(sandbox.daemonPid)
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
    #expect(core.split(separator: " ").dropFirst(4).prefix(2).allSatisfy { $0 == "0" })
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    #expect(status.contains("\nUid:\t\(uid)\t\(uid)\t\(uid)\t\(uid)\n"))
    var memory = stat()
    // If a process is not dumpable, the kernel gives its files in /proc to root, and otherwise to its user.
    #expect(unsafe stat("/proc/\(pid)/mem", &memory) == 0)
    #expect(memory.st_uid == 0)
  }
}
