import Testing
import VaultTesting

/// `sandbox-proof` tries calls in the sandbox, as a parser would that an attacker has taken over.
@Suite(
  "The sandbox of vault-import", .disabled(if: Sanitizer.isPresent, "a sanitizer needs calls that the sandbox refuses"))
struct SandboxProofTests {
  private static let program = "sandbox-proof"
  /// The end by SIGSYS, as a shell reports it.
  private static let ended: Int32 = 128 + 31

  @Test("no call for files, sockets, processes, signals or executable memory comes back")
  func calls() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let names = try sandbox.run("--list", program: Self.program).output.split(separator: "\n").map(String.init)
    try #require(names.count > 120)
    for name in names {
      let outcome = try sandbox.run(name, program: Self.program)
      #expect(outcome.status == Self.ended && outcome.stdout.isEmpty && outcome.stderr.isEmpty, "\(name): \(outcome)")
    }
  }

  /// Without the sandbox, the same tries come back, so the tests above can fail.
  @Test(
    "the same calls come back outside",
    arguments: ["openat", "socket", "memfd_create", "clone", "kill", "getpid", "write 1", "mmap executable"])
  func outside(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    #expect(try sandbox.run(name, "outside", program: Self.program).status == 1)
  }

  #if arch(x86_64)
    @Test("nor does a call by the numbers of programs of 32 bits") func otherArchitecture() throws {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      let outcome = try sandbox.run("other architecture", program: Self.program)
      // A kernel that runs no such programs sends SIGSEGV.
      #expect([Self.ended, 128 + 11].contains(outcome.status), "\(outcome)")
    }
  #endif

  @Test(
    "the socket, memory, random numbers, the time and an orderly end are there, and memory that runs out is an error",
    arguments: ["work", "exhaust large", "exhaust small"])
  func work(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run(name, program: Self.program)
    #expect(outcome.status == 0, "\(outcome)")
  }

  @Test("Landlock alone, where the kernel has it, opens no file either") func files() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("files", program: Self.program)
    #expect([0, 75].contains(outcome.status), "\(outcome)")
  }
}
