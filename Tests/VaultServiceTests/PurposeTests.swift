import Testing

@testable import VaultService

@Suite("What a prompt says of who asks") struct PurposeTests {
  @Test("of what a client says of itself no more is looked at than is shown") func longReason() {
    func purpose(_ reason: String) -> String { WaysIn.purpose("to unlock the vault", Said(purpose: reason)) }
    let reason = "backup" + String(repeating: "\u{200B}", count: 194) + "behind"
    let shown = ("backup" + String(repeating: "\\u{200b}", count: 194)).prefix(200)
    #expect(purpose(reason) == "to unlock the vault (asked by: \(shown))")
    #expect(purpose("") == "to unlock the vault")
  }
}
