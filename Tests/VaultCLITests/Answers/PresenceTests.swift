import Foundation
import Testing
import VaultTesting

/// The messages shown during a check of presence. The daemon is a script that reports two messages and then asks.
@Suite("Presence at the prompt") struct PresenceTests {
  /// Starts a daemon that answers `Unlock` with such a check and accepts 483921 as the right answer. With a gate, the
  /// daemon asks only once somebody has written a line to that FIFO.
  private func daemon(in sandbox: Sandbox, gate: String? = nil) throws -> Activation {
    let folder = sandbox.runtime + "/vault"
    try sandbox.run("-m", "700", folder, program: "/bin/mkdir")
    let answers = sandbox.root + "/answers"
    for path in [answers, gate].compactMap(\.self) { try sandbox.run(path, program: "/usr/bin/mkfifo") }
    func prompt(_ style: String, _ text: String) -> String {
      #"{"parameters":{"conversation":"c","prompt":{"style":"\#(style)","method":"pam","text":"\#(text)"}},"#
        + #""continues":true}"#
    }
    let status =
      #"{"parameters":{"state":"unlocked","cause":"x","since":1,"locks_on":[],"methods":[],"warnings":[],"#
      + #""version":"1","pid":1}}"#
    let script = """
      #!/bin/bash
      say() { printf '%s\\0' "$@"; }
      while IFS= read -r -d '' call; do
        case $call in
        *Vault.Unlock*)
          say '\(prompt("info", "Swipe your finger"))' '\(prompt("error", "Failed to match"))'
          \(gate.map { "read -r <\($0)" } ?? ":")
          say '\(prompt("visible", "One-time code"))'
          read -r answer <\(answers)
          case $answer in
          *483921*) say '{"parameters":{}}' ;;
          *) say '{"error":"io.vaultd.Vault.TooManyTries","parameters":{}}' ;;
          esac ;;
        *Vault.Respond*) say '{"parameters":{}}'; printf '%s\\n' "$call" >\(answers) ;;
        *) say '\(status)' ;;
        esac
      done
      """
    let path = sandbox.root + "/daemon"
    try sandbox.run("-c", "cat >\(path); chmod 755 \(path)", program: "/bin/sh", stdin: script)
    return try Activation(sandbox.socket, in: sandbox, command: [path])
  }

  @Test("a terminal shows what PAM tells, goes on by itself, and shows what is typed where it may be seen")
  func terminal() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let gate = sandbox.root + "/gate"
    let daemon = try daemon(in: sandbox, gate: gate)
    let terminal = try Terminal(sandbox, ["unlock", "--method", "pam"])
    try terminal.expect("Swipe your finger\r\n")
    try terminal.expect("Failed to match\r\n")
    #expect(!terminal.echoes)
    try sandbox.run("-c", "echo >\(gate)", program: "/bin/sh")
    try terminal.expect("One-time code: ")
    #expect(terminal.echoes)
    terminal.type("483921")
    try terminal.expect("unlocked")
    #expect(try terminal.wait() == 0)
    withExtendedLifetime(daemon) {}
  }

  @Test("without a terminal the same goes to standard error") func pipe() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try daemon(in: sandbox)
    let right = try sandbox.run(["unlock", "--method", "pam", "--password-stdin"], stdin: Array("483921\n".utf8))
    #expect(right.status == 0)
    #expect(right.errors == "vault: Swipe your finger\nvault: Failed to match\n")
    #expect(right.output == "")
    let wrong = try sandbox.run(["unlock", "--method", "pam", "--password-stdin"], stdin: Array("1\n".utf8))
    #expect(wrong.status == 77)
    #expect(wrong.errors.contains("too many wrong attempts"))
    withExtendedLifetime(daemon) {}
  }
}
