import Testing
import VaultTesting

@Suite("What a command that waits says") struct WaitingLineTests {
  @Test("on a terminal it says what it waits for, and takes the line away") func terminal() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["get", "web", "--wait", "1m"])
    try terminal.expect("waiting for an unlock")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try terminal.expect("\r\u{1B}[K")
    #expect(try terminal.wait() == 0 && terminal.screen.hasSuffix("\r\u{1B}[Khunter2\r\n"), "\(terminal.screen)")
  }

  @Test("elsewhere it says nothing, and what cannot be waited for is an error at once") func elsewhere() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let late = try sandbox.run("get", "web", "--wait", "1s")
    #expect(late.status == 75 && !late.errors.contains("waiting"), "\(late)")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let terminal = try Terminal(sandbox, ["get", "none", "--wait", "1m"])
    #expect(try terminal.wait() == 66 && !terminal.screen.contains("waiting"), "\(terminal.screen)")
  }
}
