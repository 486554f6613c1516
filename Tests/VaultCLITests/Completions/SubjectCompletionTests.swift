import Foundation
import Testing
import VaultTesting

@Suite("Completions of grants") struct SubjectCompletionTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    for name in ["folder/deeper/one", "folder/two", "folder/w*"] { try sandbox.must(["set", name], stdin: "v") }
    return sandbox
  }

  @Test("a subject goes on with a kind, with the names of that kind, and behind a comma with a further part")
  func subjects() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    #expect(try sandbox.completions("", "grant") == ["+user:", "+group:", "+unit:"])
    #expect(try sandbox.completions("user:roo", "grant") == ["=user:root"])
    #expect(try sandbox.completions("group:roo", "can") == ["=group:root"])
    #expect(try sandbox.completions("--for=user:roo", "grants") == ["=--for=user:root"])
    #expect(
      try sandbox.completions("user:root,", "grant") == [
        "+user:root,user:", "+user:root,group:", "+user:root,unit:", "+user:root,exe:", "+user:root,sha256:",
      ])
    #expect(try sandbox.completions("group:root,user:roo", "grant") == ["=group:root,user:root"])
    #expect(try sandbox.completions("exe:/", "grant").isEmpty)
  }

  @Test("a unit is one that has a file, and a template needs its instance") func units() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let folder = "\(sandbox.root)/config/systemd/user"
    let outcome = try sandbox.run(
      "-c", "mkdir -p \(folder) && cd \(folder) && touch v-one.service v-two@.service v-three.socket",
      program: "/bin/sh")
    try #require(outcome.status == 0, "\(outcome)")
    #expect(
      try sandbox.completions("unit:v-", "grant") == ["=unit:v-one.service", "+unit:v-two@"])
  }

  @Test("items are names or all items of a folder, and no name that stands for others") func items() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    #expect(try sandbox.completions("fol", "grant", "user:1") == ["+folder/"])
    #expect(
      try sandbox.completions("folder/", "grant", "user:1") == [
        "+folder/deeper/", "=folder/two", "=folder/*", "=folder/**",
      ])
    #expect(try sandbox.completions("none/", "grant", "user:1").isEmpty)
  }

  @Test("what is revoked is one of the grants") func granted() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for (subject, items) in [("user:4242", "folder/*"), ("user:4242", "web"), ("user:4243", "web")] {
      // Each terminal is a session of its own, and needs a proof of its own.
      let terminal = try Terminal(sandbox, ["grant", subject, items])
      try terminal.expect("Vault password")
      try terminal.expect("): ")
      terminal.type(password)
      try #require(try terminal.wait() == 0, "\(terminal.screen)")
    }
    #expect(try sandbox.completions("", "revoke") == ["=user:4242", "=user:4243"])
    #expect(try sandbox.completions("", "revoke", "user:4242") == ["=folder/*", "=web"])
    #expect(try sandbox.completions("", "grant").suffix(2) == ["=user:4242", "=user:4243"])
    #expect(try sandbox.completions("", "revoke", "user:1").isEmpty)
  }

  @Test("each shell completes a subject and a pattern", arguments: CompletionTests.shells)
  func shells(shell: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try sandbox.completing(in: shell)
    terminal.type("vault can user:daemo\t get web; echo \"<\(Self.code(shell))>\"")
    try terminal.expect("<77>")
    terminal.type("exit")
    try terminal.wait()
  }

  /// The variable with the exit code of the last command.
  private static func code(_ shell: String) -> String { shell == "fish" ? "$status" : "$?" }
}
