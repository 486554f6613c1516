import Testing
import VaultTesting

@Suite("Every command") struct CoverageTests {
  @Test("every command has a transcript")
  func transcripts() throws {
    let typed = try Transcript.names.flatMap { try Transcript(named: $0).steps.map(\.command) }
    let commands = try CommandTree.dump().commands.filter { $0.words != "slot" }
    try #require(commands.count > 15)
    for command in commands {
      #expect(typed.contains { $0.contains("vault \(command.words)") }, "no transcript has vault \(command.words)")
    }
  }

  @Test("every command takes --json, --socket and --system", arguments: ["--json", "--socket", "--system"])
  func globals(option: String) throws {
    for command in try CommandTree.dump().commands where !["slot", "completions"].contains(command.words) {
      #expect(command.options.contains(option), "vault \(command.words) does not take \(option)")
    }
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
