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
    "It says how the codes are made: six digits by SHA-1 every 30 seconds, unless it has other words for it",
    arguments: [
      ("JBSW Y3DP", .sha1, 6, .time(period: 30), false),
      ("otpauth://totp/x?secret=MY", .sha1, 6, .time(period: 30), true),
      (
        "otpauth://totp/x?secret=MY&algorithm=sha256&digits=7&period=9999&counter=5&image=x", .sha256, 7,
        .time(period: 9999), true
      ),
      (
        "otpauth://hotp/x?counter=9223372036854775807&algorithm=SHA512&digits=8&secret=MY&period=20", .sha512, 8,
        .counter(.max), true
      ),
      ("otpauth://hotp/a%20b?secret=MY&counter=0", .sha1, 6, .counter(0), true),
    ] as [(String, OneTimeSecret.Algorithm, Int, OneTimeSecret.Factor, Bool)])
  func rules(
    value: String, algorithm: OneTimeSecret.Algorithm, digits: Int, factor: OneTimeSecret.Factor, isURI: Bool
  ) throws {
    let secret = try OneTimeSecret(unsafe Array(value.utf8).span.bytes)
    #expect(secret.algorithm == algorithm && secret.digits == digits)
    #expect(secret.factor == factor && secret.isURI == isURI)
  }

  @Test(
    "The key is what base32 stands for (RFC 4648, section 10), however it is written",
    arguments: [
      ("MY", "f"), ("MY======", "f"), ("mzxq", "fo"), ("MZXW6===", "foo"), ("MZXW6YQ=", "foob"), ("MZXW-6YTB", "fooba"),
      ("MZXW 6YTB OI", "foobar"), ("otpauth://totp/x?secret=MZXW6YTBOI%3D%3D%3D%3D%3D%3D&period=60", "foobar"),
      ("otpauth://hotp/x?counter=1&secret=mzxw6ytb", "fooba"),
    ])
  func key(value: String, key: String) throws {
    let value = Array(value.utf8)
    let secret = try OneTimeSecret(unsafe value.span.bytes)
    var bytes: [UInt8] = []
    unsafe secret.writeKey(from: value.span.bytes) { bytes.append($0) }
    #expect(bytes == Array(key.utf8) && secret.keyCount == bytes.count)
  }

  @Test(
    "Another counter takes the place of the one in the URI, and nothing else changes",
    arguments: [
      ("otpauth://hotp/x?secret=MY&counter=9", 10, "otpauth://hotp/x?secret=MY&counter=10"),
      (
        "otpauth://hotp/counter=3?counter=100&secret=MY&issuer=a", 7,
        "otpauth://hotp/counter=3?counter=7&secret=MY&issuer=a"
      ),
    ] as [(String, Int64, String)])
  func counter(value: String, next: Int64, expected: String) throws {
    let value = Array(value.utf8)
    var bytes: [UInt8] = []
    try OneTimeSecret(unsafe value.span.bytes).write(unsafe value.span.bytes, counter: next) { bytes.append($0) }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test(
    "An otpauth URI says what is wrong with it",
    arguments: [
      ("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP", "no 'counter'"), ("otpauth://hotp/x?counter=1", "no 'secret'"),
      ("otpauth://hotp/x?secret=MY&counter=", "counter"), ("otpauth://hotp/x?secret=MY&counter=-1", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=01", "counter"), ("otpauth://totp/x?secret=MY&counter=x", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=9223372036854775808", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=1&counter=1", "twice"),
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
