import Foundation
import Testing
import VaultTesting

@Suite(
  "Completions of what programs keep through the Secret Service",
  .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/secret-tool"), "needs libsecret-tools"))
struct KeyringCompletionTests {
  private func stand() throws -> SecretServiceStand {
    let stand = try SecretServiceStand()
    for attributes in [["server", "example.org", "user", "ana"], ["server", "two words", "label", "inner"]] {
      let outcome = try stand.run(
        "/usr/bin/secret-tool", "store", "--label=A label", attributes[0], attributes[1],
        attributes[2], attributes[3], stdin: "secret")
      try #require(outcome.status == 0, "\(outcome)")
    }
    return stand
  }

  @Test("a predicate goes on with keyring: if there is something, and then with a key") func keys() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    #expect(try stand.sandbox.completions("k", "find") == ["+kind="])
    let other = try self.stand()
    defer { other.close() }
    #expect(try other.sandbox.completions("k", "find") == ["+kind=", "+keyring:"])
    #expect(
      try other.sandbox.completions("keyring:", "find") == [
        "+keyring:label=", "+keyring:attr:label=", "+keyring:server=", "+keyring:user=",
      ])
    try other.sandbox.must(["lock"])
    #expect(try other.sandbox.completions("keyring:u", "find").count <= 1)
  }

  @Test("a key goes on with its values, each once and in quotes if it needs them") func values() throws {
    let stand = try self.stand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    #expect(
      try sandbox.completions("keyring:server=", "find") == [
        "=keyring:server=example.org", "=keyring:server=\"two words\"",
      ])
    #expect(try sandbox.completions("keyring:label=A", "find").isEmpty)
    #expect(try sandbox.completions("keyring:label=\"A", "find") == ["=keyring:label=\"A label\""])
    #expect(try sandbox.completions("keyring:attr:label~", "find") == ["=keyring:attr:label~inner"])
    #expect(try sandbox.completions("keyring:user!=", "find") == ["=keyring:user!=ana"])
    #expect(try sandbox.completions("keyring:none=", "find").isEmpty)
    #expect(try sandbox.completions("server=", "find").isEmpty)
  }

  @Test("each shell completes both", arguments: CompletionTests.shells) func shells(shell: String) throws {
    let stand = try self.stand()
    defer { stand.close() }
    let terminal = try stand.sandbox.completing(in: shell)
    terminal.type("vault find keyri\tus\tan\t --json")
    try terminal.expect("\"label\":\"A label\"")
    terminal.type("exit")
    try terminal.wait()
  }
}
