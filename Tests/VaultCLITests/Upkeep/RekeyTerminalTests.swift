import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("A new key on a terminal") struct RekeyTerminalTests {
  private func expectKept(_ sandbox: Sandbox, _ password: String) throws {
    try sandbox.must(["lock"])
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
  }

  @Test("rekey asks for the unlock, then for the password, and says what opens the vault")
  func rekey() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["rekey"])
    try terminal.expect("Vault password: ")
    terminal.type(password)
    try terminal.expect("Vault password to give the vault a new key: ")
    #expect(!terminal.echoes)
    terminal.type(password)
    try terminal.expect("the vault has a new key")
    try terminal.expect("it opens with slot 1")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains(password))
    try expectKept(sandbox, password)
  }

  @Test("a recovery code that a rekey gave out before it was given up is told to open nothing")
  func codeGivenUp() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = password + "\n"
    try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: line)
    try sandbox.must(
      ["slot", "add", "password", "--password-stdin"] + floorOptions, stdin: line + "another horse, no battery\n")
    let rekey = try sandbox.run(["rekey", "--password-stdin"], stdin: Array(line.utf8))
    #expect(rekey.status == 64 && !rekey.output.isEmpty, "\(rekey)")
    #expect(
      rekey.errors.contains("vault: the recovery code above was not stored, and opens nothing\n"), "\(rekey.errors)")
    try expectKept(sandbox, password)
  }

  @Test("passwd says what older copies give, and offers a new key")
  func passwd() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let new = "another horse, no battery"
    let terminal = try Terminal(sandbox, ["passwd"] + floorOptions)
    try terminal.expect("Current vault password: ")
    terminal.type(password)
    try terminal.expect("New vault password: ")
    terminal.type(new)
    try terminal.expect("Again: ")
    terminal.type(new)
    try terminal.expect("older copies of the store still open with the old one")
    try terminal.expect("[y/N] ")
    terminal.type("y")
    try terminal.expect("Vault password to give the vault a new key: ")
    terminal.type(new)
    try terminal.expect("the vault has a new key")
    #expect(try terminal.wait() == 0)
    try expectKept(sandbox, new)
  }

  @Test("the question says that the recovery codes are replaced, where there are any", arguments: [1, 2])
  func replaced(codes: Int) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for _ in 0...codes { try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n") }
    let terminal = try Terminal(sandbox, ["slot", "remove", "2"])
    try terminal.expect("Vault password to remove slot 2: ")
    terminal.type(password)
    let what = codes == 1 ? "the recovery code" : "the 2 recovery codes"
    try terminal.expect("Re-encrypt with a new key, and replace \(what), too? [y/N] ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
    // The command itself says so before it asks for a password.
    let rekey = try Terminal(sandbox, ["rekey"])
    let shown = try rekey.expect("Vault password to give the vault a new key: ")
    #expect(shown.contains("a rekey replaces \(what), too"), "\(shown)")
    rekey.signal(SIGINT)
    #expect(try rekey.wait() != 0)
  }

  @Test("slot remove offers it, too, and takes no for an answer")
  func slotRemove() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
    let terminal = try Terminal(sandbox, ["slot", "remove", "2"])
    try terminal.expect("Vault password to remove slot 2: ")
    terminal.type(password)
    try terminal.expect("older copies of the store still open with it")
    try terminal.expect("Re-encrypt with a new key, which old copies do not give? [y/N] ")
    terminal.type("")
    try terminal.expect("`vault rekey` does it later")
    #expect(try terminal.wait() == 0)
    try expectKept(sandbox, password)
  }
}
