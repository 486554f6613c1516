import CMemorySearch
import Testing
import VaultTesting

@testable import VaultCore

@Suite("What is left on a stack", .enabled(if: is_sanitized() == 0, "a sanitizer has stacks of its own"))
struct StackTests {
  @Test("no call of ours leaves the key that it was given, or made, or the one that stands for it in one message")
  func nothing() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run([], program: "stack-proof")
    #expect(outcome.status == 0)
    let lines = outcome.output.split(separator: "\n")
    try #require(lines.count == 42, "\(outcome)")
    // The positive controls: the search finds a key that libsodium itself leaves, and each key in a plain copy.
    #expect(lines[0].hasPrefix("libsodium: ") && lines[0].contains("root"), "\(outcome)")
    let rsa = ["d", "p", "q", "dP", "dQ", "qInv"].map { "rsa \($0), rsa \($0) in words" }
    let curves = ["p256", "p384", "p521"].map { "\($0) d, \($0) d in words" }
    let session = ["exponent in words", "shared secret", "shared secret in words", "session key"]
    #expect(
      lines[1] == "a copy: key, message key, subkey, root, scalar, shared key, pad, pad, scalar, prefix, "
        + (curves + rsa + session).joined(separator: ", "))
    #expect(lines.dropFirst(2).allSatisfy { $0.hasSuffix(": nothing") }, "\(outcome)")
  }

  // A closure without captured context, which C can call.
  private static let left = vector_registers_left {}

  @Test(
    "a wipe leaves nothing in the vector registers, and a call that is none leaves what there was",
    .enabled(if: left >= 0, "it is not known how to look at those of this processor"))
  func registers() {
    #expect(Self.left > 0)
    let wiped = vector_registers_left { Stack.wipeRegisters() }
    #expect(wiped == 0)
  }
}
