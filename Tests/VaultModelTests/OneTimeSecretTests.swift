import Testing
import VaultModel

@Suite("One-time-code secrets")
struct OneTimeSecretTests {
  @Test(
    "A base32 secret may be written in either case, in groups, with or without padding",
    arguments: [
      "JBSWY3DPEHPK3PXP", "jbsw y3dp ehpk 3pxp", "JBSW-Y3DP", "MY======", "MZXQ====", "MZXW6===", "MZXW6YQ=", "MY",
      "MZXW6YTBOI======", "MZXW6YTBOI",
    ])
  func base32(secret: String) { #expect(ItemKind.totp.accepts(secret)) }

  @Test(
    "Other symbols, impossible lengths and wrong padding are refused",
    arguments: [
      "", "A", "AAA", "AAAAAA", "JBSWY3DPEHPK3PX1", "JBSWY3DPEHPK3PX8", "JBSWY3DPEHPK3PX0", "JBSWY3DP\n", " MY", "MY ",
      "MY-", "M--Y", "MY=", "=MY", "MY=====A", "========", "JBSWY3DP========", "JBSWY3DPü",
    ])
  func notBase32(secret: String) { #expect(!ItemKind.totp.accepts(secret)) }

  @Test(
    "An otpauth URI for TOTP with a base32 secret is accepted",
    arguments: [
      "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP",
      "otpauth://totp/Example:ana@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Example",
      "otpauth://totp/x?issuer=Example%20Ltd&secret=MY%3D%3D%3D%3D%3D%3D",
      "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=SHA512&digits=8&period=60",
      "otpauth://totp/?secret=jbswy3dpehpk3pxp&",
    ])
  func uri(uri: String) { #expect(ItemKind.totp.accepts(uri)) }

  @Test(
    "An otpauth URI says what is wrong with it",
    arguments: [
      ("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1", "counter"),
      ("otpauth://steam/x?secret=JBSWY3DPEHPK3PXP", "otpauth://totp/"),
      ("otpauth://totp/x", "no 'secret'"), ("otpauth://totp/x?", "no 'secret'"),
      ("otpauth://totp/x?issuer=a", "no 'secret'"), ("otpauth://totp/secret=JBSWY3DP", "no 'secret'"),
      ("otpauth://totp/x?secret=", "not base32"), ("otpauth://totp/x?secret=JBSW Y3DP", "without spaces"),
      ("otpauth://totp/x?secret=JBSW-Y3DP", "not base32"), ("otpauth://totp/x?secret=1", "not base32"),
      ("otpauth://totp/x?secret=MY&secret=MY", "twice"), ("otpauth://totp/x?digits=6&secret=MY&digits=8", "twice"),
      ("otpauth://totp/x?secret=MY&period=30&period=60", "twice"),
      ("otpauth://totp/x?secret=MY&algorithm=SHA1&algorithm=SHA256", "twice"),
      ("otpauth://totp/x?secret=MY\n", "line breaks"),
      ("otpauth://totp/x?secret=MY&algorithm=MD5", "SHA1"), ("otpauth://totp/x?secret=MY&algorithm=SHA1024", "SHA1"),
      ("otpauth://totp/x?secret=MY&digits=5", "digits"), ("otpauth://totp/x?secret=MY&digits=66", "digits"),
      ("otpauth://totp/x?secret=MY&period=0", "period"), ("otpauth://totp/x?secret=MY&period=", "period"),
      ("otpauth://totp/x?secret=MY&period=3x", "period"), ("otpauth://totp/x?secret=MY&period=12345", "period"),
    ])
  func badURI(uri: String, reason: String) {
    let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(uri) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }
}
