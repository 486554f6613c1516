import Testing
import VaultTesting

@Suite("A command line that cannot be read") struct CommandLineTests {
  @Test(
    "is an error, and no command line without arguments",
    .enabled(if: TestUser.canBeMade, "takes /proc away, which needs root"),
    .disabled(if: Sanitizer.isPresent, "a sanitizer needs /proc"),
    arguments: [
      "vault lock", "vault", "vaultd --store /nonexistent/store", "vault-pam", "vault-tpm2", "vault-keyring",
      "vault-qr", "vault-rsa", "vault-import", "vault-agent",
    ])
  func unreadable(line: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = "mount -t tmpfs none /proc && exec \(Sandbox.programs)/\(line)"
    let outcome = try sandbox.run("--mount", "/bin/sh", "-c", script, program: "/usr/bin/unshare")
    let program = line.prefix { $0 != " " }
    #expect(outcome.status == 71, "\(outcome)")
    #expect(
      outcome.output.isEmpty && outcome.errors.hasPrefix("\(program): cannot read the command line; "), "\(outcome)")
  }
}
