import CSodium
import VaultBytes
import VaultCore
import VaultModel
import VaultSigning

/// A private key of each kind, its secret numbers, which must not stay on the stack, and the calls that use the key.
struct SigningKeys {
  /// The text and the public key of each private key, by key type.
  private var texts: [(type: KeyType, text: [UInt8], publicKey: PublicKey)] = []
  /// The secret numbers by name, each in two forms: big-endian, and in the order in which a processor's words hold it.
  private(set) var numbers: [(String, [UInt8])] = []

  /// Makes the Ed25519 key of `seed` and new ones of the other types.
  init(seed: [UInt8]) throws {
    // RFC 8410 section 7.
    let header: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
    try add("-----BEGIN PRIVATE KEY-----\n\((header + seed).base64)\n-----END PRIVATE KEY-----\n")
    // RFC 8032 section 5.1.5: the scalar, and the prefix from which the nonces are made.
    var hash = [UInt8](repeating: 0, count: 64)
    _ = unsafe crypto_hash_sha512(&hash, seed, 32)
    (hash[0], hash[31]) = (hash[0] & 248, hash[31] & 127 | 64)
    numbers += [("scalar", Array(hash.prefix(32))), ("prefix", Array(hash.suffix(32)))]
    for type in [KeyType.p256, .p384, .p521, .rsa] {
      let text = try NewKey.key(type).pkcs8()
      try add(text.withBytes { unsafe $0.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } })
    }
  }

  private mutating func add(_ text: String) throws {
    let bytes = Array(text.utf8)
    let key = try PrivateKey(unsafe bytes.span.bytes)
    texts.append((key.type, bytes, key.publicKey))
    for (name, number) in zip(["d", "p", "q", "dP", "dQ", "qInv"], Self.secrets(of: bytes, key.type)) {
      numbers.append(("\(key.type) \(name)", number))
      numbers.append(("\(key.type) \(name) in words", number.reversed()))
    }
  }

  /// The secret numbers of a key: a curve's scalar; for RSA, d, the primes and the numbers derived from them, in the
  /// order of PKCS #8.
  private static func secrets(of text: [UInt8], _ type: KeyType) -> [[UInt8]] {
    let text = unsafe text.span.bytes
    guard type != .ed25519, let block = try? PEM.block(in: text, from: 0), let body = try? PEM.decode(block, in: text)
    else { return [] }
    return body.withBytes { der in
      var outer = DERCursor(der.byteOffsets)
      var info = DERCursor(outer.next(in: der)!.content)
      _ = (info.next(in: der), info.next(in: der))
      var octets = DERCursor(info.next(in: der)!.content)
      var fields = DERCursor(octets.next(in: der)!.content)
      var found: [[UInt8]] = []
      while let field = fields.next(in: der) {
        found.append(unsafe der.extracting(field.content).withUnsafeBytes { unsafe Array($0) })
      }
      // Behind the version, an RSA key has n and e, which are public. A curve's scalar is followed by the public point.
      let all = type == .rsa ? Array(found.dropFirst(3)) : [found[1]]
      return all.map { Array($0.drop { $0 == 0 }) }
    }
  }

  /// Each way to use each key: reading it with and without the check, signing and writing.
  func calls(_ message: [UInt8]) -> [(name: String, call: () -> Void)] {
    texts.flatMap { type, text, publicKey in
      [
        ("read \(type)", { _ = try? PrivateKey(unsafe text.span.bytes) }),
        ("trust \(type)", { _ = try? PrivateKey(unsafe text.span.bytes, trusting: publicKey) }),
        (
          "write \(type)",
          {
            guard let key = try? PrivateKey(unsafe text.span.bytes, trusting: publicKey) else { return }
            _ = key.pkcs8()
            _ = key.openSSHPrivate()
          }
        ),
      ]
        + type.schemes.map { scheme in
          (
            "sign \(scheme)",
            {
              guard let key = try? PrivateKey(unsafe text.span.bytes, trusting: publicKey) else { return }
              _ = try? key.sign(unsafe message.span.bytes, scheme)
            }
          )
        }
    }
  }
}
