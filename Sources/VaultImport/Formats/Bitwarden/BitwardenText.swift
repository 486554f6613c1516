internal import VaultBytes
internal import VaultWire

/// A text that Bitwarden encrypted (`EncString`), of the type 2: `2.` and, in base64 with `|` between them, the
/// initialization vector, the text under AES-256-CBC with PKCS #7 padding, and HMAC-SHA-256 of both. See
/// https://bitwarden.com/help/what-encryption-is-used and libs/common/src/platform/enums/encryption-type.enum.ts in
/// bitwarden/clients.
struct BitwardenText {
  /// The keys for the two functions, 32 bytes each.
  struct Keys {
    let encryption: [UInt8]
    let mac: [UInt8]
  }

  /// The highest number of bytes of a text with escapes in JSON, which needs a copy. Bitwarden escapes no character of
  /// base64.
  private static let mostEscaped = 64 << 20

  private let vector: [UInt8]
  private var text: [UInt8]
  private let mac: [UInt8]

  /// Reads the string `place` of a JSON text.
  ///
  /// - Parameter name: The name of the string, for an error.
  init(_ place: JSONReader.Text, in bytes: [UInt8], name: String) throws(ImportFailure) {
    guard place.isEscaped else {
      try self.init(bytes, place.range, name: name)
      return
    }
    guard place.count <= Self.mostEscaped else { throw ImportFailure(.tooLarge, "'\(name)' is too long") }
    let decoded = place.decoded(in: bytes)
    try self.init(decoded, 0..<decoded.count, name: name)
  }

  private init(_ bytes: [UInt8], _ range: Range<Int>, name: String) throws(ImportFailure) {
    let parts = bytes.withSpan { bytes -> ([UInt8], [UInt8], [UInt8])? in
      let whole = bytes.extracting(range)
      guard whole.hasBytes("2.", at: 0) else { return nil }
      let first = whole.first(UInt8(ascii: "|"), from: 2)
      guard first < whole.byteCount else { return nil }
      let second = whole.first(UInt8(ascii: "|"), from: first + 1)
      guard second < whole.byteCount, let vector = [UInt8](base64: whole.extracting(2..<first)),
        let text = [UInt8](base64: whole.extracting(first + 1..<second)),
        let mac = [UInt8](base64: whole.extracting(second + 1..<whole.byteCount))
      else { return nil }
      return (vector, text, mac)
    }
    guard let (vector, text, mac) = parts, vector.count == 16, mac.count == 32, !text.isEmpty, text.count % 16 == 0
    else {
      throw ImportFailure(.damaged, "'\(name)' is not encrypted in the way that is known (AES-256-CBC with HMAC)")
    }
    (self.vector, self.text, self.mac) = (vector, text, mac)
  }

  /// The text, decrypted in its own memory; nil if the keys are wrong, or the text was changed.
  consuming func decrypted(_ keys: Keys) throws(ImportFailure) -> [UInt8]? {
    guard isEqual(try BitwardenCrypto.hmac(key: keys.mac, vector, text), mac) else { return nil }
    try BitwardenCrypto.decrypt(&text, key: keys.encryption, vector: vector)
    guard let padding = text.last.map(Int.init), (1...16).contains(padding),
      text.suffix(padding).allSatisfy({ $0 == UInt8(padding) })
    else { throw ImportFailure(.damaged, "a decrypted text has wrong padding") }
    text.removeLast(padding)
    return text
  }

  /// Compares in a time that depends on the sizes alone.
  private func isEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
