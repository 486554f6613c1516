import Testing
import VaultCore
import VaultSigning

@Suite("One-time codes") struct OneTimeCodeTests {
  private static func text(_ code: borrowing SecureBytes) -> String {
    code.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }

  /// The secret of both RFCs: the digits, repeated.
  private static func digits(_ count: Int) -> [UInt8] { (1...count).map { UInt8(ascii: "0") + UInt8($0 % 10) } }

  @Test("by a counter they are those of RFC 4226, appendix D") func counted() throws {
    let codes = [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ]
    for (counter, expected) in codes.enumerated() {
      let code = try OneTimeCode.code(UInt64(counter), digits: 6, key: secret(Self.digits(20)))
      #expect(Self.text(code) == expected, "\(counter)")
    }
  }

  @Test(
    "by time they are those of RFC 6238, appendix B, for each hash",
    arguments: [
      (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
      (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
      (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ] as [(Int64, String, String, String)])
  func timed(time: Int64, sha1: String, sha256: String, sha512: String) throws {
    let counter = OneTimeCode.counter(at: time, period: 30)
    for (hash, size, expected) in [(HMAC.Hash.sha1, 20, sha1), (.sha256, 32, sha256), (.sha512, 64, sha512)] {
      // A shorter code consists of the last digits.
      for count in OneTimeCode.digits {
        let code = try OneTimeCode.code(counter, digits: count, key: secret(Self.digits(size)), hash)
        #expect(Self.text(code) == expected.suffix(count))
      }
    }
  }

  @Test(
    "Steam's are those that its own program made (KeePassXC's test of them)",
    arguments: [(1_511_200_518, "FR8RV"), (1_511_200_714, "9P3VP")] as [(Int64, String)])
  func steam(time: Int64, expected: String) throws {
    // The key is 63BEDWCQZKTQWPESARIERL5DTTQFCJTK in base32.
    let key = hex("f6c241d850caa70b3c92045048afa39ce051266a")
    let code = try OneTimeCode.steamCode(OneTimeCode.counter(at: time, period: 30), key: secret(key))
    #expect(Self.text(code) == expected)
  }

  @Test(
    "Steam's of a key of zeros are those of the package @maks11060/otp",
    arguments: [(0, "RYH4D"), (1, "DR2DK")] as [(UInt64, String)])
  func steamOfZeros(counter: UInt64, expected: String) throws {
    let code = try OneTimeCode.steamCode(counter, key: secret([UInt8](repeating: 0, count: 20)))
    #expect(Self.text(code) == expected)
  }

  @Test("a step begins with its first second and ends before the next one's") func steps() {
    #expect([0, 29, 30, 59, 60].map { OneTimeCode.counter(at: $0, period: 30) } == [0, 0, 1, 1, 2])
    #expect(OneTimeCode.counter(at: 9999, period: 9999) == 1 && OneTimeCode.counter(at: -1, period: 1) == 0)
  }
}
