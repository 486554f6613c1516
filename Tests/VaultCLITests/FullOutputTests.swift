import Testing
import VaultTesting

@Suite("Standard output that is full") struct FullOutputTests {
  @Test(
    "output that finds no room is an error, whatever was asked for",
    arguments: ["--version", "--help", "help get", "get --help", "completions bash", "--help --version"])
  func fullOutput(arguments: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("-c", "vault \(arguments) >/dev/full", program: "/bin/sh")
    #expect(outcome.status == 74 && outcome.errors.hasPrefix("vault: cannot write the output: "), "\(outcome)")
  }
}
