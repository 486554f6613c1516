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

  @Test(
    "so it is for the other programs, and where the output is closed",
    arguments: ["vaultd --version", "vaultd --help", "vault-pam --help", "vault-tpm2 --help", "vault-keyring --help"],
    [">/dev/full", ">&-"])
  func others(line: String, redirection: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("-c", "\(Sandbox.programs)/\(line) \(redirection)", program: "/bin/sh")
    let program = line.prefix { $0 != " " }
    #expect(outcome.status == 74 && outcome.errors.hasPrefix("\(program): cannot write the output: "), "\(outcome)")
  }
}
