import VaultBytes
import VaultWire

@testable import VaultImport

/// Databases with any content, made here: KDBX 4 with ChaCha20 and one round of AES-KDF, and the password `pw`.
enum SealedDatabase {
  /// The seed of AES-KDF, and an identification in base64 and in hexadecimal digits.
  static let seed = Array(UInt8(0)..<32)
  static let id = (base64: "AAECAwQFBgcICQoLDA0ODw==", hex: "000102030405060708090a0b0c0d0e0f")

  /// A document whose outermost group contains `body`.
  static func document(_ body: String, meta: String = "") -> String {
    "<KeePassFile><Meta>\(meta)</Meta><Root><Group><UUID>\(id.base64)</UUID><Name>all</Name>\(body)</Group></Root>"
      + "</KeePassFile>"
  }

  /// A field of an entry.
  static func string(_ key: String, _ value: String) -> String {
    "<String><Key>\(key)</Key><Value>\(value)</Value></String>"
  }

  /// A file with a document. `derivation` replaces the dictionary for the derivation of the key.
  static func bytes(
    _ document: String, binaries: [[UInt8]] = [], isCompressed: Bool = false, derivation: [UInt8]? = nil
  ) throws(ImportFailure) -> [UInt8] {
    var content = field(1, number(3, 4)) + field(2, seed)
    for binary in binaries { content += field(3, [0] + binary) }
    content += field(0, []) + Array(document.utf8)
    return try seal(isCompressed ? gzip(content) : content, isCompressed, derivation)
  }

  /// A file with any content behind the encryption.
  static func seal(
    _ content: [UInt8], _ isCompressed: Bool = false, _ derivation: [UInt8]? = nil
  ) throws(ImportFailure) -> [UInt8] {
    let vector = Array(repeating: UInt8(7), count: 12)
    var header = KDBXHeader.signature + [0, 0, 4, 0]
    header += field(2, [UInt8](hex: "d6038a2b8b6f4cb5a524339a31dbb59a") ?? [])
    header += field(3, number(isCompressed ? 1 : 0, 4)) + field(4, seed) + field(7, vector)
    header += field(11, derivation ?? aes(rounds: 1)) + field(0, [])
    let key = try key(KDBXHeader(header))
    // The cipher is a stream: to decrypt is to encrypt.
    let body = try KDBXCipher(.chaCha20, key: key.cipher, vector: vector).decrypt(content)
    let code = try KDBXDigest.hmac(key: KDBXAuthenticatedBlocks.key(UInt64.max, key.blocks), header[...])
    return header + (try KDBXDigest.sha256(header[...])) + code + (try block(0, body, key)) + (try block(1, [], key))
  }

  /// The keys from the password.
  static func key(_ header: KDBXHeader) throws(ImportFailure) -> KDBXKey {
    let composite = try KDBXDigest.sha256(KDBXDigest.sha256(Array("pw".utf8)[...])[...])
    return try KDBXKey(composite, header, KDBXDerivation(rounds: 1, seed: seed))
  }

  static func block(_ index: UInt64, _ bytes: [UInt8], _ key: KDBXKey) throws(ImportFailure) -> [UInt8] {
    let (place, size) = (number(index, 8), number(UInt64(bytes.count), 4))
    let code = try KDBXDigest.hmac(
      key: KDBXAuthenticatedBlocks.key(index, key.blocks), place[...], size[...], bytes[...])
    return code + size + bytes
  }

  private static func field(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [type] + number(UInt64(bytes.count), 4) + bytes
  }

  static func number(_ number: UInt64, _ count: Int) -> [UInt8] { Array(number.littleEndianBytes.prefix(count)) }

  /// A member in gzip's format that is not compressed.
  static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let size = number(UInt64(block.count), 2)
      member += [rest.isEmpty ? 1 : 0] + size + size.map { ~$0 } + block
    } while !rest.isEmpty
    var checksum = CRC32()
    checksum.add(bytes[...])
    return member + number(UInt64(checksum.value), 4) + number(UInt64(bytes.count), 4)
  }
}

// Dictionaries for the derivation of the key.
extension SealedDatabase {
  static func aes(rounds: UInt64) -> [UInt8] {
    dictionary([
      (0x42, "$UUID", [UInt8](hex: "c9d9f39a628a4460bf740d08c18a4fea") ?? []), (5, "R", number(rounds, 8)),
      (0x42, "S", seed),
    ])
  }

  static func argon2(memory: UInt64, passes: UInt64, lanes: UInt64, version: UInt64 = 0x13) -> [UInt8] {
    dictionary([
      (0x42, "$UUID", [UInt8](hex: "ef636ddf8c29444b91f7a9a403e30a0c") ?? []), (5, "M", number(memory, 8)),
      (5, "I", number(passes, 8)), (4, "P", number(lanes, 4)), (4, "V", number(version, 4)), (0x42, "S", seed),
    ])
  }

  static func dictionary(_ items: [(type: UInt8, name: String, value: [UInt8])]) -> [UInt8] {
    var bytes: [UInt8] = [0, 1]
    for item in items {
      bytes += [item.type] + number(UInt64(item.name.utf8.count), 4) + Array(item.name.utf8)
      bytes += number(UInt64(item.value.count), 4) + item.value
    }
    return bytes + [0]
  }
}
