internal import VaultBytes
internal import VaultWire

/// The header of a KDBX file, which is not encrypted (KeePass: KdbxFile.cs, and
/// https://keepass.info/help/kb/kdbx.html).
struct KDBXHeader {
  /// The first bytes of each KDBX file, and of each file of KeePass 1.
  static let signature: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5]
  private static let oldSignature: [UInt8] = [0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5]

  private enum Field: UInt8 {
    case end, comment, cipher, compression, seed, transformSeed, rounds, vector, streamKey, startBytes, stream
    case derivation, publicData
  }

  /// The version of the format.
  let major: Int
  let minor: Int
  private var fields: [Field: ArraySlice<UInt8>] = [:]
  /// All bytes of the header, and those behind it.
  let bytes: ArraySlice<UInt8>
  let body: ArraySlice<UInt8>

  init(_ file: [UInt8]) throws(ImportFailure) {
    guard file.starts(with: Self.signature) else { throw Self.other(file) }
    guard file.count >= 12 else { throw .cutOff }
    (minor, major) = (Int(file[8..<10].littleEndian), Int(file[10..<12].littleEndian))
    guard major == 3 && minor <= 1 || major == 4 else {
      throw ImportFailure(
        .unsupported, "the database is in version \(major).\(minor) of KDBX, and only 3.0, 3.1 and 4 can be read")
    }
    let sizeCount = major == 3 ? 2 : 4
    var rest = file[12...]
    var isEnded = false
    while !isEnded {
      guard let type = rest.first, rest.count > sizeCount else { throw .cutOff }
      let size = rest.dropFirst().prefix(sizeCount).littleEndian
      rest = rest.dropFirst(1 + sizeCount)
      guard let count = Int(exactly: size), count <= rest.count else { throw .cutOff }
      if let field = Field(rawValue: type) {
        fields[field] = rest.prefix(count)
        isEnded = field == .end
      }
      rest = rest.dropFirst(count)
    }
    (bytes, body) = (file[..<rest.startIndex], rest)
  }

  private static func other(_ file: [UInt8]) -> ImportFailure {
    if file.starts(with: oldSignature) {
      return ImportFailure(.unsupported, "this is a database of KeePass 1; save it as KDBX with KeePass or KeePassXC")
    }
    return ImportFailure(.unknown, "this is no KDBX file")
  }

  private func value(_ field: Field, _ name: String) throws(ImportFailure) -> ArraySlice<UInt8> {
    guard let value = fields[field] else {
      throw ImportFailure(.damaged, "the header of the database lacks the \(name)")
    }
    return value
  }

  /// True if the content is compressed by gzip.
  var isCompressed: Bool {
    get throws(ImportFailure) {
      switch try value(.compression, "compression").littleEndian {
      case 0: return false
      case 1: return true
      case let number: throw ImportFailure(.unsupported, "the database is compressed in an unknown way (\(number))")
      }
    }
  }

  /// The random bytes that each saving changes.
  var seed: ArraySlice<UInt8> {
    get throws(ImportFailure) {
      let seed = try value(.seed, "seed")
      guard seed.count == 32 else { throw ImportFailure(.damaged, "the seed of the database has a wrong size") }
      return seed
    }
  }

  /// The derivation of the key.
  ///
  /// - Parameter mostMemory: The most bytes of memory for it.
  func derivation(mostMemory: UInt64) throws(ImportFailure) -> KDBXDerivation {
    if major == 4 {
      return try KDBXDerivation(KDBXVariants(value(.derivation, "key derivation")), mostMemory: mostMemory)
    }
    let seed = try value(.transformSeed, "seed of AES-KDF")
    return try KDBXDerivation(rounds: value(.rounds, "rounds of AES-KDF").littleEndian, seed: Array(seed))
  }

  /// The cipher of the content.
  func cipher(key: [UInt8]) throws(ImportFailure) -> KDBXCipher {
    let algorithm: KDBXCipher.Algorithm
    switch Array(try value(.cipher, "cipher")).hex {
    case "31c1f2e6bf714350be5805216afc5aff": algorithm = .aes256
    case "ad68f29f576f4bb9a36ad47af965346c": algorithm = .twofish
    case "d6038a2b8b6f4cb5a524339a31dbb59a": algorithm = .chaCha20
    case let id: throw ImportFailure(.unsupported, "the database is encrypted by an unknown cipher (\(id))")
    }
    return try KDBXCipher(algorithm, key: key, vector: value(.vector, "initialization vector"))
  }

  /// The bytes with which the content of a KDBX 3.1 file begins.
  var startBytes: ArraySlice<UInt8> {
    get throws(ImportFailure) { try value(.startBytes, "start bytes") }
  }

  /// The inner encryption of a KDBX 3.1 file.
  var protection: KDBXProtection {
    get throws(ImportFailure) {
      let key = try value(.streamKey, "key of protected values")
      return try KDBXProtection(value(.stream, "cipher of protected values").littleEndian, key: Array(key))
    }
  }
}
