import Foundation
import Testing
import VaultTesting

@Suite("Memory in an import", .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct ImportMemoryTests {
  private static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  /// A vault in which nothing but its own values can be found: its password is random, too.
  private static func vault(_ sandbox: Sandbox) throws -> String {
    try sandbox.hidePAM()
    let password = word()
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    return password
  }

  @Test("at its question, vault holds each value once, as it is, and after a lock, vaultd holds none") func values()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = try Self.vault(sandbox)
    let secrets = ["password": Self.word(), "note": "\(Self.word()) \(Self.word())", "pin": Self.word()]
    let bytes = secrets.mapValues { Array($0.utf8) }
    let csv = """
      name,url,username,password,note,pin
      GitHub,https://github.com/login,ana,\(secrets["password"] ?? ""),\(secrets["note"] ?? ""),\(secrets["pin"] ?? "")

      """
    let path = try sandbox.write(csv, to: "passwords.csv")
    let terminal = try Terminal(sandbox, ["import", path])
    try terminal.expect("Import 3 items from")
    // Each value waits to be stored. Nothing is left of the replies of vault-import, which has ended.
    let waiting = try MemorySearch(pid: terminal.pid)
    #expect(waiting.findForms(of: bytes) == bytes.mapValues { _ in ["raw"] })
    #expect(waiting.find(Array(password.utf8)) == [])
    #expect(sandbox.processes(mentioning: "vault-import").isEmpty)
    terminal.type("y")
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(try sandbox.must(["get", "GitHub"]) == secrets["password"])
    #expect(try sandbox.client().call("Lock").error == nil)
    let locked = try MemorySearch(pid: try #require(sandbox.daemonPid))
    #expect(locked.findForms(of: bytes) == [:], "\(sandbox.daemonLog)")
  }

  @Test("at its question, vault holds nothing of the password that opened the source") func source() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try Self.vault(sandbox)
    let secret = "correct horse"
    let path = Repository.root.appending(path: "Tests/VaultImportTests/Files/bitwarden-pbkdf2.json").path
    let terminal = try Terminal(sandbox, ["import", path])
    try terminal.expect("Password of `bitwarden-pbkdf2.json`: ")
    terminal.type(secret)
    try terminal.expect(" from `")
    let waiting = try MemorySearch(pid: terminal.pid)
    #expect(waiting.find(["password": Array(secret.utf8)]) == [:])
    terminal.type("n")
    #expect(try terminal.wait() == 77)
    let daemon = try MemorySearch(pid: try #require(sandbox.daemonPid))
    #expect(daemon.find(["password": Array(secret.utf8)]) == [:])
  }
}
