import Testing
import VaultTesting

@Suite("A wrong password beyond ASCII") struct AccentTests {
  private static let hint = "a letter with an accent is one or two characters (NFC, NFD)"

  @Test("may be composed in another way, which is told once") func terminal() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect("Vault password: ")
    terminal.type("caf\u{E9}")
    try terminal.expect("vault: wrong password\r\n")
    try terminal.expect("it has letters beyond ASCII")
    try terminal.expect("Vault password: ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
  }

  @Test("of one in ASCII it is not told, and without a terminal it stands with the error") func input() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let accented = try sandbox.run(["unlock", "--password-stdin"], stdin: Array("cafe\u{301}\n".utf8))
    #expect(accented.status == 77 && accented.errors.contains(Self.hint), "\(accented)")
    let marked = try Sandbox.withVault(unlocked: false)
    defer { marked.close() }
    let mark = try marked.run(["unlock", "--password-stdin"], stdin: Array("\u{FEFF}\(password)\n".utf8))
    #expect(mark.status == 77 && mark.errors.contains("it begins with a byte order mark"), "\(mark)")
    #expect(!mark.errors.contains("NFC"))
    let plain = try Sandbox.withVault(unlocked: false)
    defer { plain.close() }
    let wrong = try plain.run(["unlock", "--password-stdin"], stdin: Array("cafe\n".utf8))
    #expect(wrong.status == 77 && !wrong.errors.contains("NFC"), "\(wrong)")
  }
}
