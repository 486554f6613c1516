import Testing
import VaultModel

@Suite("Names of credentials") struct CredentialIDTests {
  @Test("are those that systemd takes", arguments: ["a", "express.key", "...", "with space", "-", "~!@#$%^&*()[]{}"])
  func valid(text: String) throws { #expect(try CredentialID(text).text == text) }

  @Test(
    "are no others",
    arguments: ["", ".", "..", "a/b", "a:b", "a\nb", "a\u{7F}", "ü", String(repeating: "a", count: 256)]
  )
  func invalid(text: String) { #expect(throws: ValueError.self) { try CredentialID(text) } }

  @Test("have at most 255 characters") func longest() throws {
    #expect(try CredentialID(String(repeating: "a", count: 255)).text.utf8.count == 255)
  }
}
