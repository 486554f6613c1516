import Testing
import VaultTesting

@Suite("vault env and the shells that read it") struct EnvShellTests {
  /// Values with each character that is special to a shell at each end and alone.
  private static let values = [
    "\\", "'", "\\'", "'\\", "a\\", "a'", "\\a", "'a", "\\\\", "''", "\\n", "\\\\'", "'\\\\", "a\nb\\", "\n", "$HOME",
    "(echo x)",
    "`echo x`", "\"$x\"", "*", "~", "#a", " a ", "-n", "%s", "é 日本", "a;b", "!!", "{a,b}", "\t\u{1}\u{7F}",
  ]

  @Test("each value arrives as it is, whatever is in it", arguments: ["fish", "sh", "bash", "zsh"])
  func values(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let client = try sandbox.client()
    for (number, value) in Self.values.enumerated() {
      #expect(try client.call("Set", ["name": "v/\(number)", "value": value]).error == nil)
    }
    let names = Self.values.indices.map { "V\($0)" }
    let options = names.enumerated().map { "-e \($1)=v/\($0)" }.joined(separator: " ")
    let read =
      shell == "fish"
      ? "vault env \(options) --shell fish | source" : "eval \"$(vault env \(options) --shell sh)\""
    let told = names.map { "printf '%s\\0' \"$\($0)\"" }.joined(separator: "; ")
    let outcome = try sandbox.run(
      (shell == "fish" ? ["--no-config"] : []) + ["-c", "\(read); \(told)"], program: "/usr/bin/\(shell)")
    let found = outcome.stdout.split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
    #expect(found == Self.values && outcome.errors.isEmpty, "\(outcome)")
  }
}
