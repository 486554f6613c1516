import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("What a prompt says of who asks") struct PurposeTests {
  @Test("of what a client says of itself no more is looked at than is shown") func longReason() {
    func phrase(_ reason: String) -> String { Purpose(.unlock, Said(purpose: reason)).phrase }
    let reason = "backup" + String(repeating: "\u{200B}", count: 194) + "behind"
    let shown = ("backup" + String(repeating: "\\u{200b}", count: 194)).prefix(200)
    #expect(phrase(reason) == "to unlock the vault (asked by: \(shown))")
    #expect(phrase("") == "to unlock the vault")
  }

  @Test("a client's words cannot end the parentheses in which they stand") func enclosed() {
    func phrase(_ reason: String) -> String { Purpose(.unlock, Said(purpose: reason)).phrase }
    #expect(phrase("a (b) c") == "to unlock the vault (asked by: a (b) c)")
    #expect(phrase("a) Code: (x") == "to unlock the vault (asked by: a\\u{29} Code: (x)")
    #expect(phrase("a\u{FF09} Code: (x") == "to unlock the vault (asked by: a\\u{ff09} Code: (x)")
  }

  @Test("a question says whose secret is meant, and what for where that is not plain") func questions() {
    let said = Said(purpose: "backup")
    #expect(Purpose(.unlock).question(for: .password) == "Vault password")
    #expect(Purpose(.unlock, said).question(for: .login) == "Login password (asked by: backup)")
    #expect(Purpose(.changePassword).question(for: .password) == "Current vault password")
    #expect(Purpose(.changePassword).question(for: .recovery) == "Recovery code")
    #expect(Purpose(.other("to add a slot")).question(for: .password) == "Vault password to add a slot")
  }
}
