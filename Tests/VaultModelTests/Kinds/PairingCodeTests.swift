import Testing
import VaultModel

@Suite("Pairing codes")
struct PairingCodeTests {
  @Test(
    "Digits in groups, or 8, 11 or 21 without a break, are a pairing code",
    arguments: [
      "031-45-154", "12345678", "3497-011-2332", "34970112332", "123456789012345678901", "1-2-3-4-5-6", "123-456",
    ])
  func good(code: String) { #expect(ItemKind.pairingCode.accepts(code)) }

  @Test(
    "Letters, other breaks, loose dashes and other lengths are not",
    arguments: [
      "", "-", "031-45-15a", "031 45 154", "-031-45-154", "031-45-154-", "031--45-154", "031-45-154\n", "1234567",
      "123456789", "1234567890", "123456789012", "12345678901234567890", "1234567890123456789012", "12-345",
      "12345678901-12345678901", "٠٣١-٤٥-١٥٤",
    ])
  func bad(code: String) { #expect(!ItemKind.pairingCode.accepts(code)) }

  @Test("A pattern sets another form, and then only that one")
  func pattern() {
    let pattern = ["pattern": "MT:##-##/#"]
    #expect(ItemKind.pairingCode.accepts("MT:12-34/5", pattern))
    for bad in ["MT:12-34/", "MT:12-34/56", "MT:12-3a/5", "mt:12-34/5", "031-45-154", ""] {
      #expect(!ItemKind.pairingCode.accepts(bad, pattern))
    }
    #expect(!ItemKind.pairingCode.accepts("x", ["pattern": "x"]))
    #expect(!ItemKind.pairingCode.accepts("", ["pattern": ""]))
  }
}
