import Foundation
import Testing
import VaultTesting

/// A prompt about which the daemon goes on while the agent asks it, from a daemon that does so when the test says so.
@Suite("A prompt of the agent that is withdrawn, or that another program joins") struct WithdrawnPromptTests {
  /// Starts a daemon that asks for the login password. After a line in the pipe `go` it says `then`, and it keeps the
  /// answers of the agent in the file `said`.
  private func daemon(in sandbox: Sandbox, then: String) throws -> Activation {
    try sandbox.run("-m", "700", sandbox.runtime + "/vault", program: "/bin/mkdir")
    let inquiry = #"{"number":123456,"about":"unlock","askers":[],"count":1,"name":"bank"}"#
    let script = #"""
      #!/bin/bash
      say() { printf '%s\0' "$1"; }
      prompt() {
        prompt='{"style":"'"$1"'","method":"password","text":"'"$2"'"'"$3"'}'
        say '{"parameters":{"conversation":"c","prompt":'"$prompt"'},"continues":true}'
      }
      while IFS= read -r -d '' call; do
        case $call in
        *Vault.Attend\"*)
          say '{"parameters":{"event":"attending","time":0,"agent":1},"continues":true}'
          say '{"parameters":{"event":"inquiry","time":0,"inquiry":\#(inquiry)},"continues":true}' ;;
        *Vault.Unlock\"*)
          prompt secret 'Login password' ',"number":1'
          read -r line <'\#(sandbox.root)/go'
          \#(then) ;;
        *Vault.Respond\"*|*Vault.Dismiss\"*)
          say '{"parameters":{}}'
          printf '%s\n' "$call" >>'\#(sandbox.root)/said'
        esac
      done
      """#
    let path = sandbox.root + "/daemon"
    let make = "cat >\(path); chmod 755 \(path); mkfifo -m 600 \(sandbox.root)/go; : >\(sandbox.root)/said"
    try sandbox.run("-c", make, program: "/bin/sh", stdin: script)
    return try Activation(sandbox.socket, in: sandbox, command: [path])
  }

  /// Asks the first question, withdraws it, and returns the agent's terminal.
  private func withdrawn(_ sandbox: Sandbox) throws -> Terminal {
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal", "--socket", sandbox.socket])
    try terminal.expect("Login password")
    try sandbox.run("-c", "echo >\(sandbox.root)/go", program: "/bin/sh")
    return terminal
  }

  private func answers(_ sandbox: Sandbox) throws -> String {
    var said = ""
    try wait(for: "an answer") {
      said = try String(contentsOfFile: sandbox.root + "/said", encoding: .utf8)
      return said.hasSuffix("\n")
    }
    return said
  }

  @Test("gives way to the next one at once") func next() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let then = "prompt info 'this prompt gave way'; prompt secret 'Vault password' ',\"number\":2'"
    let daemon = try self.daemon(in: sandbox, then: then)
    defer { withExtendedLifetime(daemon) {} }
    let terminal = try withdrawn(sandbox)
    try terminal.expect("this prompt gave way")
    try terminal.expect("Vault password")
    terminal.type("right")
    let said = try answers(sandbox)
    #expect(said.contains(#""number":2"#) && said.contains(#""answer":"right""#), "\(said)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0)
  }

  @Test("closes when the conversation ends, and the agent says why") func end() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let reason = #"{"method":"pam","reason":"this prompt gave way to another one"}"#
    let daemon = try self.daemon(
      in: sandbox, then: #"say '{"error":"io.vaultd.Vault.MethodUnavailable","parameters":\#(reason)}'"#)
    defer { withExtendedLifetime(daemon) {} }
    let terminal = try withdrawn(sandbox)
    try terminal.expect("nothing was done: ")
    let said = try answers(sandbox)
    #expect(said.contains("Vault.Dismiss") && said.contains("123456"), "\(said)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0)
  }

  @Test("stays as it is in a dialog when another program joins it, which is named after the answer")
  func joined() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let root = sandbox.root
    let daemon = try self.daemon(
      in: sandbox,
      then: "prompt info 'Also asked to use b'; read -r line <'\(root)/go'; say '{\"parameters\":{}}'")
    defer { withExtendedLifetime(daemon) {} }
    // The dialog is answered once the test says so.
    let command = root + "/command"
    try Executable.write(
      """
      #!/bin/sh
      read -r question
      printf '%s\\n' "$question" >>'\(root)/shown'
      case $question in
      *'"style":"secret"'*) read -r typed <'\(root)/typed'; echo "$typed";;
      esac

      """, to: command)
    try sandbox.run("-c", "mkfifo -m 600 \(root)/typed; : >\(root)/shown", program: "/bin/sh")
    let terminal = try Terminal(
      sandbox, ["agent", "--faces", "command", "--command", command, "--socket", sandbox.socket])
    func shown(_ text: String) throws -> String {
      var shown = ""
      try wait(for: text) {
        shown = try String(contentsOfFile: root + "/shown", encoding: .utf8)
        return shown.contains(text)
      }
      return shown
    }
    _ = try shown(#""style":"secret""#)
    // The daemon says it before the answer is there.
    try sandbox.run("-c", "echo >\(root)/go; echo right >\(root)/typed", program: "/bin/sh")
    #expect(try answers(sandbox).contains(#""answer":"right""#))
    try sandbox.run("-c", "echo >\(root)/go", program: "/bin/sh")
    let all = try shown(#""about":"notice""#)
    let lines = all.split(separator: "\n")
    #expect(lines.count { $0.contains(#""style":"secret""#) } == 1, "\(all)")
    #expect(lines.contains { $0.contains("notice") && $0.contains(#""text":"Also asked to use b""#) }, "\(all)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0)
  }
}
