import Testing
import VaultTesting

@Suite("Every command") struct CoverageTests {
  @Test("every command has a transcript")
  func transcripts() throws {
    let typed = try Transcript.names.flatMap { try Transcript(named: $0).steps.map(\.command) }
    let commands = try CommandTree.dump().commands
    try #require(commands.count > 15)
    for command in commands {
      #expect(typed.contains { $0.contains("vault \(command.words)") }, "no transcript has vault \(command.words)")
    }
  }

  /// The commands that ask nothing of a daemon: `completions` prints a script, and `agent` becomes another program.
  private static let others = ["completions", "agent"]
  /// The command whose output comes from another program.
  private static let silent = "run"

  @Test("every command takes --json, --socket and --system", arguments: ["--json", "--socket", "--system"])
  func globals(option: String) throws {
    for command in try CommandTree.dump().commands where !Self.others.contains(command.words) {
      if command.words == Self.silent, option == "--json" { continue }
      #expect(command.options.contains(option), "vault \(command.words) does not take \(option)")
    }
  }

  /// The arguments that a command needs before it asks anything of the daemon.
  private static func operands(_ command: String, file: String) -> [String] {
    switch command {
    case "get", "totp", "set", "edit", "find", "show", "history", "rm", "trash restore", "audit item", "receipts",
      "pubkey", "token issue", "token rotate":
      ["web"]
    case "deposit": ["web", "--allow-empty"]
    case "sign", "mac", "token verify": ["web", file]
    case "token revoke": ["web", "--sub", "1"]
    case "restore-version": ["web", "1"]
    case "run": ["-e", "A=web", "--", "true"]
    case "env": ["-e", "A=web"]
    case "inject": ["-i", file + ".tmpl"]
    case "mv", "cp": ["web", "other"]
    case "slot add": ["recovery"]
    case "grant": ["user:1", "a"]
    case "revoke", "grants forget": ["user:1"]
    case "can": ["user:1", "get", "a"]
    case "requests forget": ["user:1", "a"]
    case "slot remove", "approve", "deny", "refuse", "deposits accept", "deposits drop": ["1"]
    case "backup", "salvage": [file + "-2"]
    case "restore": [file]
    case "helper": ["password-file", "web"]
    case "import": ["--from", "secret-service", "--dry-run"]
    case "export": ["--to", "secret-service", "--dry-run"]
    default: []
    }
  }

  @Test("every command asks the daemon that it was told, and no other")
  func socket() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/vault.backup"
    try sandbox.must(["backup", file])
    try sandbox.write(#"{{ vault "web" }}"#, to: "vault.backup.tmpl")
    let before = try sandbox.everything()
    // This daemon answers every call with the error that there is no vault.
    let other = try ScriptedDaemon(sandbox, [:])
    defer { other.close() }
    for command in try CommandTree.dump().commands where !Self.others.contains(command.words) {
      let words = command.words.split(separator: " ").map(String.init)
      let outcome = try sandbox.run(words + ["--socket", other.socket] + Self.operands(command.words, file: file))
      let said = outcome.output + outcome.errors
      #expect(outcome.status == 78 && said.contains("there is no vault yet"), "\(command.words): \(outcome)")
    }
    #expect(try sandbox.everything() == before)
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
  }

  @Test("no option takes a secret")
  func noSecrets() throws {
    for command in try CommandTree.dump().commands {
      for option in command.options {
        #expect(!["--value", "--password", "--secret", "--passphrase", "--code"].contains(option))
      }
    }
  }
}
