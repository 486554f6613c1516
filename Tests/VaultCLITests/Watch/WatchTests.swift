import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault watch --exec") struct WatchTests {
  private func sandbox(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.startDaemon(config: "idle = off\npam-service = vault-test-none\n" + settings)
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "1")
    try sandbox.must(["set", "other"], stdin: "1")
    return sandbox
  }

  private func set(_ sandbox: Sandbox, _ name: String = "web") throws {
    try sandbox.must(["set", name, "--update"], stdin: randomValue())
  }

  private func randomValue() -> String { "\(UInt64.random(in: .min ... .max))" }

  /// Returns the receipts for an item, once they contain this text.
  private func receipts(_ sandbox: Sandbox, of name: String = "web", until text: String) throws -> String {
    for _ in 0..<1000 {
      let found = try sandbox.must(["receipts", name])
      if found.contains(text) { return found }
    }
    throw SandboxError("no receipt says \(text)")
  }

  @Test(
    "what prints as it happens ends once nobody reads that, without another event",
    arguments: ["watch", "watch --json", "watch 'w*'", "audit --follow"])
  func readerIsGone(command: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    // `watch` of a single item prints nothing until something happens to the item.
    let reader = command.contains("*") ? "true" : "head -n 1"
    let line = "{ vault \(command); echo $? >&2; } | \(reader)"
    let outcome = try sandbox.run(["-c", line], program: "/bin/sh")
    #expect(outcome.errors == "141\n", "\(outcome)")
    let ignoring = try sandbox.run(["-c", "trap '' PIPE; \(line)"], program: "/bin/sh")
    #expect(ignoring.errors.hasPrefix("vault: cannot write the output: Broken pipe"), "\(ignoring)")
    #expect(ignoring.errors.hasSuffix("\n74\n"), "\(ignoring)")
  }

  @Test("what a watcher has said of an item goes with it to another name, and not to what has its name then")
  func renamed() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let client = try sandbox.client()
    #expect(try client.call("Receipt", ["name": "web", "version": 1, "succeeded": true]).error == nil)
    #expect(try sandbox.must(["receipts", "web", "--json"]).contains(#""taken":1,"current":true"#))
    try sandbox.must(["mv", "web", "old"])
    let none = try sandbox.run("receipts", "web")
    #expect(none.status == 66 && none.output.isEmpty && none.errors.hasPrefix("vault: no item `web`"), "\(none)")
    try sandbox.must(["mv", "other", "web"])
    #expect(try sandbox.must(["receipts", "web", "--json"]).isEmpty, "nobody has taken it over")
    #expect(try sandbox.must(["receipts", "old", "--json"]).contains(#""taken":1,"current":true"#))
    try sandbox.must(["set", "old", "--update"], stdin: "2")
    #expect(try sandbox.must(["receipts", "old", "--json"]).contains(#""taken":1,"current":false"#))
  }

  @Test("the command reads what has changed, and what came of it is on the record") func runs() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["watch", "w*", "--now", "--exec", "cat; echo done"])
    try terminal.expect(#""missed":true"#)
    try terminal.expect("done")
    #expect(try receipts(sandbox, until: "\t1\thas it").split(separator: "\n").count == 1)
    #expect(try sandbox.must(["receipts", "web", "--json"]).contains(#""watches":true"#))
    try set(sandbox, "other")
    try set(sandbox)
    let shown = try terminal.expect("done")
    #expect(shown.contains(#""name":"web","change":"updated","version":2"#) && !shown.contains("other"))
    let receipt = try receipts(sandbox, until: "\t2\thas it")
    #expect(receipt.contains("[\(terminal.pid)]"), "\(receipt)")
    try sandbox.must(["set", "web", "--update"], stdin: "3")
    _ = try terminal.expect("done")
    terminal.control("c")
    #expect(try terminal.wait() == 130)
    #expect(terminal.isCooked)
    // Nobody takes over later changes.
    let last = try receipts(sandbox, until: "gone; ")
    #expect(last.split(separator: "\n").count == 1, "\(last)")
    #expect(try sandbox.must(["receipts", "web", "--json"]).contains(#""watches":false"#))
  }

  @Test("it never runs twice at once, and what changes meanwhile is one more run") func once() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let command =
      "mkdir lock || echo TWICE; sed -n 's/.*version\":\\([0-9]*\\).*/told \\1./p'; rmdir lock; echo r >>runs"
    let terminal = try Terminal(
      sandbox, ["-c", "cd && exec \(Sandbox.path(of: "vault")) watch web --now --exec \"$0\"", command],
      program: "/bin/sh")
    _ = try receipts(sandbox, until: "has it")
    for _ in 2...40 { try set(sandbox) }
    try terminal.expect("told 40.")
    _ = try receipts(sandbox, until: "\t40\thas it")
    #expect(!terminal.screen.contains("TWICE"))
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("an item that is moved and changed while the command runs is told as gone from its old name") func moved()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let command = "echo begun; cat; until [ -e \(sandbox.home)/go ]; do :; done; echo done"
    let terminal = try Terminal(sandbox, ["watch", "--now", "--exec", command])
    try terminal.expect("begun")
    try set(sandbox)
    try sandbox.must(["mv", "web", "site"])
    try set(sandbox, "site")
    try sandbox.must(["rm", "other"])
    try sandbox.write("", to: "go")
    try terminal.expect("done")
    // The events are sent at once, but nothing proves that the watcher had all of them when it ran the command again.
    var told = ""
    while !told.contains(#""name":"other","change":"deleted""#) { told += try terminal.expect("done") }
    #expect(told.contains(#""name":"web","change":"moved","to":"site""#), "\(told)")
    #expect(told.contains(#""name":"site","change":"updated","version":3"#), "\(told)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("a run for an item is no receipt for another item that took its name meanwhile", arguments: [false, true])
  func replaced(isMoved: Bool) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    // The first run succeeds, and no later one does.
    let command = "echo begun; test -e ~/go && exit 3; until [ -e ~/go ]; do :; done; echo done"
    let terminal = try Terminal(sandbox, ["watch", "web", "--now", "--exec", command])
    try terminal.expect("begun")
    if isMoved {
      try sandbox.must(["mv", "web", "old"])
    } else {
      try sandbox.must(["rm", "--now", "--yes", "web"])
    }
    try sandbox.must(["set", "web"], stdin: "another")
    try sandbox.write("", to: "go")
    try terminal.expect("done")
    try terminal.expect("exit code 3")
    let receipt = try receipts(sandbox, until: "failed: “exit code 3”")
    #expect(!receipt.contains("has version"), "\(receipt)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("a command that fails runs again, at once when something changes") func retries() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let mark = sandbox.home + "/mark"
    let terminal = try Terminal(sandbox, ["watch", "web", "--now", "--exec", "echo begun; test -e \(mark)"])
    try terminal.expect("exit code 1; it runs again in 1 s")
    _ = try receipts(sandbox, until: "failed: “exit code 1”")
    try terminal.expect("begun")
    try terminal.expect("it runs again in 2 s")
    try sandbox.write("", to: "mark")
    try set(sandbox)
    _ = try receipts(sandbox, until: "\t2\thas it")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("what came of a run that ended while the vault was locked is on the record once it is unlocked")
  func endsLocked() throws {
    // A vault that hides names takes no receipt while it is locked.
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    let command = "echo begun; until [ -e \(sandbox.home)/go ]; do :; done"
    let terminal = try Terminal(sandbox, ["watch", "web", "other", "--now", "--exec", command])
    try terminal.expect("begun")
    // The change makes the watcher run the command again, after it has tried to send the receipts for the first run.
    try set(sandbox)
    try sandbox.must(["lock"])
    try sandbox.write("", to: "go")
    try terminal.expect("begun")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let receipt = try receipts(sandbox, of: "other", until: "\t1\thas it")
    #expect(receipt.split(separator: "\n").count == 1, "\(receipt)")
    let log = try sandbox.must(["audit", "--action", "receipt", "--json"])
    #expect(log.contains(#""action":"receipt","outcome":"locked""#), "\(log)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("it goes on with the next daemon, of which it knows nothing before, and with what changes then")
  func restart() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    // A run in the locked vault would fail.
    let command = "cat; \(Sandbox.path(of: "vault")) get web >/dev/null 2>&1 && echo done"
    let terminal = try Terminal(sandbox, ["watch", "web", "--now", "--exec", command])
    try terminal.expect("done")
    let printing = try Terminal(sandbox, ["watch"])
    try printing.expect("unlocked")
    for _ in 1...2 {
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      try printing.expect("earlier events were missed")
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      try terminal.expect(#""missed":true"#)
      try terminal.expect("done")
    }
    try set(sandbox)
    try terminal.expect(#""version":2"#)
    #expect(!terminal.screen.contains("exit code"), "\(terminal.screen)")
    try printing.expect("updated web")
    _ = try receipts(sandbox, until: "\t2\thas it")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("in a vault that was not unlocked yet it runs for what can be had, and after the unlock for the rest")
  func cold() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["set", "boot", "--accessible", "always"], stdin: "early")
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    func watch(_ item: String, _ command: String) throws -> Terminal {
      let command = command.replacing("GET", with: Sandbox.path(of: "vault") + " get 2>/dev/null")
      return try Terminal(sandbox, ["watch", item, "--now", "--exec", command])
    }
    let late = try watch("web", "v=$(GET web) && echo $v.")
    let early = try watch("boot", "v=$(GET boot) && echo $v.")
    let both = try watch("*o*", "v=$(GET boot); w=$(GET other) && echo $v$w. || echo $v!")
    try early.expect("early.\r\n")
    try both.expect("early!\r\n")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try late.expect("1.\r\n")
    try both.expect("early1.\r\n")
    #expect(!late.screen.contains("exit code"), "\(late.screen)")
    // The command does not hear of the first value again.
    try sandbox.must(["set", "boot", "--update"], stdin: "next")
    let said = try early.expect("next.\r\n")
    #expect(!said.contains("early"), "\(said)")
    for terminal in [late, early, both] {
      terminal.signal(SIGTERM)
      #expect(try terminal.wait() == 143)
    }
  }

  @Test("a receipt that the daemon could not take is sent again, though nothing else happens") func delayed() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let trace = sandbox.home + "/trace"
    // The fifth call is the one for the receipt.
    let strace = ["-o", trace, "-e", "trace=sendto", "-e", "inject=sendto:error=ENOBUFS:when=5"]
    let terminal = try Terminal(
      sandbox, strace + [Sandbox.path(of: "vault"), "watch", "--now", "--exec", "echo ran", "web"],
      program: "/usr/bin/strace")
    try terminal.expect("ran")
    _ = try receipts(sandbox, until: "\t1\thas it")
    let lines = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let calls = lines.filter { $0.contains("Recei") }
    #expect(calls.count == 2 && calls[0].contains("INJECTED"), "\(calls)")
    // A signal to strace would end strace alone.
    let children = try String(contentsOfFile: "/proc/\(terminal.pid)/task/\(terminal.pid)/children", encoding: .utf8)
    kill(try #require(children.split(separator: " ").first.flatMap { Int32($0) }), SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("SIGTERM ends it at once while the daemon answers nobody") func frozen() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let command = "echo ran; until [ -e \(sandbox.home)/go ]; do :; done"
    let terminal = try Terminal(sandbox, ["watch", "--now", "--exec", command, "web"])
    try terminal.expect("ran")
    try sandbox.signalDaemon(SIGSTOP)
    defer { try? sandbox.signalDaemon(SIGCONT) }
    try sandbox.write("", to: "go")
    // After the end of the command, the watcher sends a receipt, and would wait for the daemon for five seconds.
    try wait(for: "the end of the command") {
      try String(contentsOfFile: "/proc/\(terminal.pid)/task/\(terminal.pid)/children", encoding: .utf8).isEmpty
    }
    let began = ContinuousClock.now
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
    #expect(ContinuousClock.now - began < .seconds(3))
  }

  @Test("SIGTERM ends the command and what it has started, also where they do not want to", arguments: [false, true])
  func ends(stubborn: Bool) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let trap = stubborn ? "trap '' TERM; " : ""
    let terminal = try Terminal(
      sandbox, ["watch", "web", "--now", "--exec", "\(trap)sleep 71717 & echo begun; wait; sleep 71717"])
    try terminal.expect("begun")
    // The child may have been forked and not yet have become the other program.
    while sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
    // A killed process may take a moment to end.
    for _ in 0..<1000 where !sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    #expect(sandbox.processes(mentioning: "71717").isEmpty)
  }
}
