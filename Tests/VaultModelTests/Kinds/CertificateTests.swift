import Testing

@testable import VaultModel

@Suite("Certificates")
struct CertificateTests {
  private static func der(_ name: String) throws -> [UInt8] {
    try #require(try Fixture.decoded(Fixture.bytes("KindFuzz", name)))
  }

  private static func expiry(_ der: [UInt8]) throws(ValueError) -> Int64? {
    let span = unsafe der.span.bytes
    return try Certificate.expiry(ofDER: span)
  }

  /// Makes a certificate's skeleton around two times, given with their tags.
  private static func skeleton(_ notBefore: [UInt8], _ notAfter: [UInt8]) -> [UInt8] {
    let empty: [UInt8] = [0x30, 0]
    let validity = [0x30, UInt8(notBefore.count + notAfter.count)] + notBefore + notAfter
    let signed: [UInt8] = [0x02, 1, 1] + empty + empty + validity + empty + empty
    return [0x30, UInt8(signed.count + 6), 0x30, UInt8(signed.count)] + signed + empty + [0x03, 0]
  }

  private static func time(_ tag: UInt8, _ text: String) -> [UInt8] {
    [tag, UInt8(text.utf8.count)] + Array(text.utf8)
  }

  private static func expiry(notAfter tag: UInt8, _ text: String) throws(ValueError) -> Int64? {
    try expiry(skeleton(time(0x17, "260101000000Z"), time(tag, text)))
  }

  @Test("The end of validity is read as OpenSSL wrote it, in both forms of time")
  func expiry() throws {
    #expect(try ItemKind.certificate.check(Fixture.text("certificate-utctime.pem")).expires == 1_803_904_200)
    #expect(try ItemKind.certificate.check(Fixture.text("certificate-generalizedtime.pem")).expires == 2_845_324_798)
  }

  @Test("A key ends with the certificate beside it, be that before or behind it, and by itself does not")
  func keyWithCertificate() throws {
    let key = try Fixture.text("tls-ed25519.pem")
    let certificate = try Fixture.text("certificate-utctime.pem")
    let issuer = try Fixture.text("certificate-generalizedtime.pem")
    #expect(try ItemKind.tlsKey.check(key).expires == nil)
    #expect(try ItemKind.tlsKey.check(key + certificate).expires == 1_803_904_200)
    #expect(try ItemKind.tlsKey.check(certificate + key + issuer).expires == 1_803_904_200)
    let endless = try Fixture.text("certificate-without-end.pem")
    #expect(try ItemKind.tlsKey.check(key + endless + issuer).expires == nil)
  }

  @Test("A certificate that says it never ends has no expiry")
  func noEnd() throws {
    #expect(try ItemKind.certificate.check(Fixture.text("certificate-without-end.pem")) == ValueFacts(expires: nil))
  }

  @Test("In a chain the first certificate counts, and text around the blocks does not")
  func chain() throws {
    #expect(try ItemKind.certificate.check(Fixture.text("certificate-chain-with-text.pem")).expires == 1_803_904_200)
    #expect(try ItemKind.certificate.check(Fixture.text("certificate-crlf.pem")).expires == 1_803_904_200)
  }

  @Test("A chain with one damaged certificate is refused")
  func damagedChain() throws {
    let good = try Fixture.text("certificate-utctime.pem")
    let cut = good.split(separator: "\n").enumerated().filter { $0.offset != 2 }.map(\.element).joined(separator: "\n")
    #expect(!ItemKind.certificate.accepts(good + cut))
  }

  @Test("A private key with it, another block or none at all is refused")
  func otherBlocks() throws {
    let certificate = try Fixture.text("certificate-utctime.pem")
    let error = #expect(throws: ValueError.self) {
      try ItemKind.certificate.check(certificate + Fixture.text("tls-ed25519.pem"))
    }
    #expect(error?.reason == "there is a private key with the certificate; store it as tls-key")
    let first = #expect(throws: ValueError.self) {
      try ItemKind.certificate.check(Fixture.text("tls-ed25519.pem") + certificate)
    }
    #expect(first == error)
    let alone = #expect(throws: ValueError.self) {
      try ItemKind.certificate.check(Fixture.text("tls-ed25519.pem"))
    }
    #expect(alone?.reason == "it is a private key without a certificate; store it as tls-key")
    #expect(!ItemKind.certificate.accepts(certificate.replacing("CERTIFICATE", with: "CERTIFICATE REQUEST")))
    #expect(!ItemKind.certificate.accepts("") && !ItemKind.certificate.accepts("no certificate\n"))
  }

  @Test("Every truncation is refused, of the encoding and of the text up to its last line's end")
  func truncation() throws {
    let der = try Self.der("certificate-utctime.pem")
    for count in 0..<der.count { #expect(throws: ValueError.self) { try Self.expiry(Array(der.prefix(count))) } }
    let text = try Fixture.bytes("KindFuzz", "certificate-utctime.pem")
    for count in 0..<text.count - 1 {
      #expect(throws: ValueError.self) { try ItemKind.certificate.check(Array(text.prefix(count))) }
    }
    #expect(throws: Never.self) { try ItemKind.certificate.check(Array(text.dropLast())) }
    #expect(throws: ValueError.self) { try Self.expiry(der + [0]) }
  }

  @Test("No flipped bit outside the end of validity moves it")
  func flippedBits() throws {
    let der = try Self.der("certificate-utctime.pem")
    let end = Array("270301123000Z".utf8)
    let start = try #require(der.indices.first { der[$0...].starts(with: end) })
    var refused = 0
    for index in der.indices where !(start..<start + end.count).contains(index) {
      for bit in 0..<8 {
        var damaged = der
        damaged[index] ^= 1 << bit
        do throws(ValueError) {
          let expires = try Self.expiry(damaged)
          #expect(expires == 1_803_904_200, "bit \(bit) of byte \(index)")
        } catch { refused += 1 }
      }
    }
    #expect(refused > 100)
  }

  @Test("A two-digit year is one from 1950 to 2049, and nothing ends before 1970")
  func centuries() throws {
    #expect(try Self.expiry(notAfter: 0x17, "491231235959Z") == Timestamp.parse("2049-12-31T23:59:59Z"))
    #expect(try Self.expiry(notAfter: 0x17, "700101000000Z") == 0)
    #expect(try Self.expiry(notAfter: 0x18, "20500101000000Z") == Timestamp.parse("2050-01-01"))
    for early in ["691231235959Z", "500101000000Z"] {
      #expect(throws: ValueError.self) { try Self.expiry(notAfter: 0x17, early) }
    }
  }

  @Test(
    "Times in other forms, and dates that do not exist, are refused",
    arguments: [
      "2703011230Z", "270301123000", "270301123000+0000", "270301123000z", "271301123000Z", "270229123000Z",
      "270301240000Z", "270301126000Z", "270301123060Z", "27030112300AZ", "", "20270301123000Z", " 70301123000Z",
    ])
  func badTimes(text: String) {
    #expect(throws: ValueError.self) { try Self.expiry(notAfter: 0x17, text) }
  }

  @Test("Another tag than a time's, a third time or a missing one is refused")
  func badValidity() {
    let good = Self.time(0x17, "260101000000Z")
    #expect(throws: Never.self) { try Self.expiry(Self.skeleton(good, good)) }
    #expect(throws: ValueError.self) { try Self.expiry(notAfter: 0x16, "270301123000Z") }
    #expect(throws: ValueError.self) { try Self.expiry(Self.skeleton(good, [])) }
    // The beginning of the validity must be a time as well.
    for begin in [Self.time(0x17, "261301000000Z"), Self.time(0x17, ""), Self.time(0x16, "260101000000Z")] {
      #expect(throws: ValueError.self) { try Self.expiry(Self.skeleton(begin, good)) }
    }
    #expect(throws: ValueError.self) { try Self.expiry(Self.skeleton(good, good + good)) }
  }
}
