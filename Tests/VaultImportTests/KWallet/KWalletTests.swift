import Testing
import VaultWire

@testable import VaultImport

@Suite("Wallets of KDE") struct KWalletTests {
  private func told(_ files: (String, String)...) throws -> [String] {
    try ReadEntries(KWalletReader.self, files.map { Source.File($0.0, Array($0.1.utf8)) }).told
  }

  @Test("a password loses only the line break that kwallet-query adds") func passwords() throws {
    #expect(
      try told(("Passwords/mail", " a b \n"), ("Passwords/empty", ""), ("/x", "one\ntwo\n")) == [
        "login Passwords/mail", "  password [password]  a b ", "login Passwords/empty", "value x",
        "  password [password] one\ntwo",
      ])
  }

  @Test("names can contain slashes and percent signs, and make the identification") func names() throws {
    let read = try ReadEntries(KWalletReader.self, [Source.File("Form Data/https:%2f%2fx%2f100%25", Array("p\n".utf8))])
    #expect(read.entries[0].title == "https://x/100%" && read.entries[0].folder == ["Form Data"])
    #expect(read.entries[0].id == "Form Data/https://x/100%")
    #expect(read.format?.name == "kwallet" && read.format?.detail == "wallet of KDE, 1 entry")
  }

  @Test("a map's known names have a meaning, and every other value is a secret") func maps() throws {
    let map = "{\n    \"login\": \"ana\",\n    \"password\": \"pw\",\n    \"psk\": \"key\"\n}\n\n"
    #expect(
      try told(("Maps/m", map), ("Maps/none", "{\n}\n\n")) == [
        "login Maps/m", "  login [username] ana", "  password [password] pw", "  psk [secret] key",
        "login Maps/none",
      ])
    // A password is printed without empty lines.
    #expect(try told(("a/b", "{\"x\": 1}\n")) == ["login a/b", "  password [password] {\"x\": 1}"])
    #expect(try told(("a/b", "{\nx\n}\n\n")).first == "value a/b")
  }

  @Test("no damaged output crashes the reader") func damaged() {
    attack(KWalletReader.self, "{\n    \"login\": \"ana\",\n    \"otp\": \"JBSWY3DP\"\n}\n\n", name: "a/b")
    #expect(refusal(KWalletReader.self, "x") == "an entry of the wallet has no folder")
    #expect(!recognizes(KWalletReader.self, "x"))
  }
}
