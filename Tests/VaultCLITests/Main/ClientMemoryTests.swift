import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "The client's memory", .enabled(if: MemorySearch.isPossible, MemorySearch.need)
)
struct ClientMemoryTests {
  private static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  private func find(_ text: String, in pid: Int32) throws -> Set<String> {
    try MemorySearch(pid: pid).find(Array(text.utf8))
  }

  @Test("while it waits for the next answer, nothing is left of what was typed before") func answers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let (old, new) = (Self.word(), Self.word())
    _ = try sandbox.makeVault(password: old, config: "idle = off")
    let terminal = try Terminal(sandbox, ["passwd"] + floorOptions)
    try terminal.expect("Current vault password: ")
    terminal.type(old)
    try terminal.expect("New vault password: ")
    #expect(try find(old, in: terminal.pid) == [])
    terminal.type(new)
    try terminal.expect("Again: ")
    let waiting = try MemorySearch(pid: terminal.pid)
    #expect(waiting.find(Array(old.utf8)) == [])
    // The positive control: the new password is kept for the comparison with the repeated one.
    #expect(waiting.find(Array(new.utf8)) == ["raw"])
    terminal.type(new)
    try terminal.expect("Re-encrypt with a new key")
    #expect(try find(new, in: terminal.pid) == [])
  }

  @Test("a value that is typed where another kind is asked for is left nowhere") func valueForKind() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (refused, value) = (Self.word(), Self.word())
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "pairing-code"])
    for question in ["Value of `x`: ", "Again: "] {
      try terminal.expect(question)
      terminal.type(refused)
    }
    try terminal.expect("give it another kind (k), or give up (n)? ")
    terminal.type("k")
    try terminal.expect("Its kind: ")
    terminal.type(value)
    try terminal.expect("vault: a kind is one of")
    try terminal.expect("Its kind: ")
    #expect(try find(value, in: terminal.pid) == [])
    // The refused value is kept for the other kind.
    #expect(try find(refused, in: terminal.pid).contains("raw"))
    terminal.type(" password ")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x"]) == refused)
  }

  @Test("while it waits for the daemon, it holds what it has sent, and nothing of it once it was answered")
  func sent() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let password = Self.word()
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    let terminal = try Terminal(sandbox, ["slot", "add", "password"] + floorOptions)
    try terminal.expect("Vault password to add a slot: ")
    #expect(try find(password, in: terminal.pid) == [])
    try sandbox.signalDaemon(SIGSTOP)
    terminal.type(password)
    // The unseen line has ended; the client is sending the answer to a daemon that does not read it.
    try terminal.expect("\n")
    #expect(try find(password, in: terminal.pid) == ["raw"])
    try sandbox.signalDaemon(SIGCONT)
    try terminal.expect("New vault password: ")
    #expect(try find(password, in: terminal.pid) == [])
  }

  @Test("while it waits for a code to be typed back, it holds the code that it shows, and no password")
  func code() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let password = Self.word()
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    let terminal = try Terminal(sandbox, ["slot", "add", "recovery"])
    try terminal.expect("Vault password to add a slot: ")
    terminal.type(password)
    let shown = try terminal.expect("Recovery code: ")
    let pattern = /[0-9A-Z]{4,}(?:-[0-9A-Z]{4,})+/
    let code = String(try #require(shown.firstMatch(of: pattern), "\(shown)").output)
    #expect(try find(password, in: terminal.pid) == [])
    #expect(try find(code, in: terminal.pid).contains("raw"))
    terminal.type(code)
    #expect(try terminal.wait() == 0)
  }

  @Test("the one that waits to clear the clipboard holds the value, and nothing that opened the vault") func clipboard()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let (password, value) = (Self.word(), Self.word())
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "web", "value": value]).error == nil)
    #expect(try sandbox.client().call("Lock").error == nil)
    let tool = "#!/bin/sh\necho $PPID >>\(sandbox.home)/parents; exec cat >\(sandbox.home)/clipboard\n"
    let line = "cd; mkdir bin; cat >bin/xclip; chmod 755 bin/xclip"
    try sandbox.run("-c", line, program: "/bin/sh", stdin: tool)
    let path = sandbox.home + "/bin:" + (sandbox.environment["PATH"] ?? "")
    let terminal = try Terminal(sandbox, ["get", "web", "--clip"], environment: ["PATH": path, "DISPLAY": ":0"])
    try terminal.expect("Vault password")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    // The process that clears the clipboard has been orphaned, so find it by its arguments. Once its input has ended,
    // it has read the value.
    let deadline = time(nil) + 60
    var found: Set<String> = []
    while found.isEmpty, time(nil) < deadline {
      for pid in sandbox.processes(mentioning: "__forget-clipboard") { found = try find(value, in: pid) }
    }
    #expect(found == ["raw"])
    for pid in sandbox.processes(mentioning: "__forget-clipboard") {
      #expect(try find(password, in: pid) == [])
    }
  }

  @Test("what keeps a file right holds its values, and nothing of one that is in it no more") func keeper() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let (password, value) = (Self.word(), Self.word())
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "web", "value": value]).error == nil)
    #expect(try sandbox.client().call("Lock").error == nil)
    let template = try sandbox.write(#"{{ vault "web" | json }}"#, to: "t")
    let terminal = try Terminal(sandbox, ["inject", "-i", template, "-o", sandbox.home + "/out", "--watch"])
    try terminal.expect("Vault password")
    terminal.type(password)
    try terminal.expect("wrote")
    let first = try MemorySearch(pid: terminal.pid)
    #expect(first.find(Array(value.utf8)) == ["raw"] && first.find(Array(password.utf8)) == [])
    try sandbox.write("nothing", to: "new")
    #expect(unsafe rename(sandbox.home + "/new", template) == 0)
    try terminal.expect("wrote")
    #expect(try find(value, in: terminal.pid) == [])
  }
}
