import Testing
import VaultTesting

extension Terminal {
  /// Gives a grant in a user's vault, for which the person at the terminal types the password. Returns what is shown.
  @discardableResult
  static func grant(
    _ sandbox: Sandbox, _ subject: String, _ pattern: String, _ options: [String] = []
  ) throws -> String {
    let terminal = try Terminal(sandbox, ["grant", subject, pattern] + options, environment: ["NO_COLOR": "1"])
    try terminal.expect("Vault password")
    try terminal.expect("): ")
    terminal.type(password)
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    return terminal.screen
  }
}
