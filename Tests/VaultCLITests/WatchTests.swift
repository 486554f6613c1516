import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault watch --exec") struct WatchTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.startDaemon(config: "idle = off\npam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "1")
    try sandbox.must(["set", "other"], stdin: "1")
    return sandbox
  }

  private func set(_ sandbox: Sandbox, _ name: String = "web") throws {
    try sandbox.must(["set", name, "--update"], stdin: randomValue())
  }

  private func randomValue() -> String { "\(UInt64.random(in: .min ... .max))" }

  /// What the watchers of `web` have said, once the first line has this text.
  private func receipts(_ sandbox: Sandbox, until text: String) throws -> String {
    for _ in 0..<1000 {
      let found = try sandbox.must(["receipts", "web"])
      if found.contains(text) { return found }
    }
    throw SandboxError("no receipt says \(text)")
  }

  @Test("the command reads what has changed, and what came of it is on the record") func runs() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["watch", "w*", "--now", "--exec", "cat; echo done"])
    try terminal.expect(#""missed":true"#)
    try terminal.expect("done")
    #expect(try receipts(sandbox, until: "\t1\thas it").split(separator: "\n").count == 1)
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

  @Test("it goes on with the next daemon, of which it knows nothing before, and with what changes then")
  func restart() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["watch", "web", "--now", "--exec", "cat; echo done"])
    try terminal.expect("done")
    let printing = try Terminal(sandbox, ["watch"])
    try printing.expect("unlocked")
    for _ in 1...2 {
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      try terminal.expect(#""missed":true"#)
      try terminal.expect("done")
      try printing.expect("missed what was before")
    }
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try set(sandbox)
    try terminal.expect(#""version":2"#)
    try printing.expect("updated web")
    _ = try receipts(sandbox, until: "\t2\thas it")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("SIGTERM ends the command and what it has started, also where they do not want to", arguments: [false, true])
  func ends(stubborn: Bool) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let trap = stubborn ? "trap '' TERM; " : ""
    let terminal = try Terminal(
      sandbox, ["watch", "web", "--now", "--exec", "\(trap)sleep 71717 & echo begun; wait; sleep 71717"])
    try terminal.expect("begun")
    // It may have been forked, and not be another program yet.
    while sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
    // What was killed may take a moment to end.
    for _ in 0..<1000 where !sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    #expect(sandbox.processes(mentioning: "71717").isEmpty)
  }
}
