import Foundation
import Glibc
import Testing
import VaultModel
import VaultTesting

/// Foreign text in the daemon's output, which must be plain and stay on one line.
@Suite("What the daemon prints") struct PrintedTests {
  /// Text that writes the clipboard, clears the screen, and begins a line that looks like the daemon's own.
  private static let hostile = "\u{1B}]52;c;cm0gLXJm\u{7}\u{1B}[2J\rx\u{202E}\u{85}\u{2028}vaultd: all is well"
  private static let spelled = #"\u{1b}]52;c;cm0gLXJm\u{7}\u{1b}[2J"#

  /// Returns the lines of a text, each of which must be plain.
  private func lines(_ text: String) -> [Substring] {
    let lines = text.split(separator: "\n")
    for line in lines { #expect(Printable.isPlain(String(line)), "\(line)") }
    return lines
  }

  @Test("why it does not start", arguments: ["--store", "--config", "--socket", "--\(hostile)"])
  func refusal(_ option: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let refused = try sandbox.run(option, Self.hostile, program: "vaultd")
    #expect(refused.status != 0)
    #expect(lines(refused.errors).count == 1 && refused.errors.contains(Self.spelled), "\(refused)")
  }

  @Test("a line of the settings, at the start and when they are read again") func settings() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "idle = off\n")
    let key = Self.hostile.filter { !$0.isNewline }
    try sandbox.configure("\(key) = 5m\n")
    try sandbox.signalDaemon(SIGHUP)
    while !sandbox.daemonLog.contains("settings unchanged: ") {
      #expect(try sandbox.client().call("Status").error == nil)
    }
    try sandbox.stopDaemon()
    #expect(lines(sandbox.daemonLog).count == 1 && sandbox.daemonLog.contains("unknown setting `\(Self.spelled)"))
    let refused = try sandbox.run(program: "vaultd")
    #expect(refused.status == 78)
    #expect(
      lines(refused.errors).count == 1 && refused.errors.contains("unknown setting `\(Self.spelled)"), "\(refused)")
    try sandbox.configure(String(repeating: "k", count: 60_000) + " = 5m\n")
    #expect(try sandbox.run(program: "vaultd").errors.count < 300)
  }

  @Test("a path in its log") func log() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let store = sandbox.home + "/" + Self.hostile
    try FileManager.default.createDirectory(
      atPath: store, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    unsafe mkfifo(store + "/backoff", 0o600)
    try sandbox.startDaemon(arguments: ["--store", store])
    try sandbox.stopDaemon()
    #expect(lines(sandbox.daemonLog).count == 1 && sandbox.daemonLog.contains(Self.spelled))
  }

  @Test("what a helper complains of, line by line and not without end") func helper() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedHelper.daemon(in: sandbox)
    func complain(_ script: String) throws -> String {
      try sandbox.write(script, to: "script")
      let before = sandbox.daemonLog.count
      let reply = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in "correct horse" }
      #expect(reply?.error != nil)
      return String(sandbox.daemonLog.dropFirst(before))
    }
    try sandbox.startDaemon(config: "boot-key = tpm2:\(sandbox.home)/boot.key", through: [daemon])
    let said = try complain(#"printf 'first\n\033]52;c;cm0gLXJm\a\033[2J\nlast' >&2; exit 1"#)
    #expect(lines(said) == ["vault-tpm2: first", "vault-tpm2: \(Self.spelled)", "vault-tpm2: last"], "\(said)")
    let flood = try complain("yes 0123456789abcdef >&2")
    #expect(lines(flood).allSatisfy { $0.hasPrefix("vault-tpm2: ") })
    #expect((1000...130_000).contains(flood.count))
    #expect(try sandbox.client().call("Status").error == nil)
  }
}
