internal import VaultBytes
internal import VaultWire

/// The encryption of a KDBX 4 file as it is written: the header, and the content in blocks with an HMAC each (KeePass:
/// KdbxFile.Write.cs, HmacBlockStream.cs, and https://keepass.info/help/kb/kdbx.html).
///
/// The key comes from the password by Argon2id, and the content is encrypted with ChaCha20. It is not compressed.
struct KDBXSeal {
  /// The passes and lanes of Argon2id.
  private static let (passes, lanes): (UInt64, UInt64) = (10, 4)
  private static let blockCount = 1 << 20
  private static let (chaCha20, argon2id) = ("d6038a2b8b6f4cb5a524339a31dbb59a", "9e298b1956db4773b23dfc3ec6f0a1e6")

  private let output: ExportOutput
  private let cipher: KDBXCipher
  private let key: KDBXKey
  private var index: UInt64 = 0
  /// The content that fills no block yet.
  private var held: [UInt8] = []

  /// Writes the header.
  ///
  /// - Parameter memory: The memory of Argon2id in MiB.
  init(password: [UInt8], memory: Int, to output: ExportOutput) throws(ImportFailure) {
    let vector = RandomBytes.make(12)
    var header = KDBXHeader.signature + [0, 0, 4, 0]
    header += Self.field(2, [UInt8](hex: Self.chaCha20) ?? [])
    header += Self.field(3, Self.number(0, 4)) + Self.field(4, RandomBytes.make(32)) + Self.field(7, vector)
    header += Self.field(11, Self.derivation(memory << 20)) + Self.field(0, [])
    let parsed = try KDBXHeader(header)
    guard let composite = try KDBXKey.composites(password: password, keyFile: nil).first else {
      throw ImportFailure(.failed, "the password makes no key")
    }
    key = try KDBXKey(composite, parsed, parsed.derivation(mostMemory: UInt64(memory) << 20))
    cipher = try KDBXCipher(.chaCha20, key: key.cipher, vector: vector)
    self.output = output
    let headerKey = try KDBXAuthenticatedBlocks.key(KDBXAuthenticatedBlocks.headerIndex, key.blocks)
    try output.take(header[...])
    try output.take((try KDBXDigest.sha256(header[...]))[...])
    try output.take((try KDBXDigest.hmac(key: headerKey, header[...]))[...])
  }

  /// Adds content.
  mutating func add(_ bytes: some Collection<UInt8>) throws(ImportFailure) {
    held += bytes
    var rest = held[...]
    while rest.count >= Self.blockCount {
      try send(Array(rest.prefix(Self.blockCount)))
      rest = rest.dropFirst(Self.blockCount)
    }
    if rest.startIndex > 0 { held = Array(rest) }
  }

  /// Writes the end.
  mutating func finish() throws(ImportFailure) {
    if !held.isEmpty { try send(held) }
    held = []
    // A block without content ends the file.
    try send([])
  }

  private mutating func send(_ bytes: [UInt8]) throws(ImportFailure) {
    var block = bytes
    if !bytes.isEmpty { try cipher.encrypt(bytes, into: &block) }
    let size = Self.number(UInt64(block.count), 4)
    let code = try KDBXDigest.hmac(
      key: KDBXAuthenticatedBlocks.key(index, key.blocks), index.littleEndianBytes[...], size[...], block[...])
    index += 1
    try output.take((code + size)[...])
    try output.take(block[...])
  }

  /// A field of a header: its type, size and value.
  static func field(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] { [type] + number(UInt64(bytes.count), 4) + bytes }

  static func number(_ number: UInt64, _ count: Int) -> [UInt8] { Array(number.littleEndianBytes.prefix(count)) }

  /// The dictionary with the parameters of Argon2id (KeePass: VariantDictionary.cs, Argon2Kdf.cs).
  private static func derivation(_ memory: Int) -> [UInt8] {
    func item(_ type: UInt8, _ name: String, _ value: [UInt8]) -> [UInt8] {
      field(type, Array(name.utf8)) + number(UInt64(value.count), 4) + value
    }
    return [0, 1] + item(0x42, "$UUID", [UInt8](hex: argon2id) ?? []) + item(0x05, "M", number(UInt64(memory), 8))
      + item(0x05, "I", number(passes, 8)) + item(0x04, "P", number(lanes, 4)) + item(0x04, "V", number(0x13, 4))
      + item(0x42, "S", RandomBytes.make(32)) + [0]
  }
}

extension KDBXProtection {
  /// Encrypts the next value of the document. The key stream is added either way.
  func encrypt(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8] { try decrypt(bytes) }
}
