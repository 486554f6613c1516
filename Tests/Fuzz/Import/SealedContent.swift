import VaultWire

@testable import VaultImport

/// The content of a file, encrypted with a known key.
enum SealedContent {
  /// The keys from a composite key of zeros, by no round of AES-KDF.
  static func key(_ header: KDBXHeader) throws(ImportFailure) -> KDBXKey {
    let zeros = Array(repeating: UInt8(0), count: 32)
    return try KDBXKey(zeros, header, KDBXDerivation(rounds: 0, seed: zeros))
  }

  static func seal(_ header: KDBXHeader, _ key: KDBXKey) throws(ImportFailure) -> [UInt8] {
    let plain = try header.isCompressed ? SealedDatabase.gzip(Array(header.body)) : Array(header.body)
    if header.major == 3 {
      let hash = try KDBXDigest.sha256(plain[...])
      let size = SealedDatabase.number(UInt64(plain.count), 4)
      let end = Array(repeating: UInt8(0), count: 32 + 4)
      let block = plain.isEmpty ? [] : [0, 0, 0, 0] + hash + size + plain
      let blocks = block + [plain.isEmpty ? 0 : 1, 0, 0, 0] + end
      return Array(header.bytes) + (try encrypt(Array(try header.startBytes) + blocks, header, key))
    }
    let body = try encrypt(plain, header, key)
    let code = try KDBXDigest.hmac(
      key: KDBXAuthenticatedBlocks.key(KDBXAuthenticatedBlocks.headerIndex, key.blocks), header.bytes)
    let checks = try KDBXDigest.sha256(header.bytes) + code
    let end = try SealedDatabase.block(body.isEmpty ? 0 : 1, [], key)
    return Array(header.bytes) + checks + (try body.isEmpty ? [] : SealedDatabase.block(0, body, key)) + end
  }

  private static func encrypt(
    _ plain: [UInt8], _ header: KDBXHeader, _ key: KDBXKey
  ) throws(ImportFailure) -> [UInt8] {
    let cipher = try header.cipher(key: key.cipher)
    let size = cipher.algorithm.blockCount
    // A stream decrypts as it encrypts.
    if size == 1 { return try cipher.decrypt(plain) }
    let padding = size - plain.count % size
    let padded = plain + Array(repeating: UInt8(padding), count: padding)
    var sealed = padded
    try cipher.encrypt(padded, into: &sealed)
    return sealed
  }

  /// Reads a file. Returns true if it has entries, or none.
  ///
  /// - Parameter isWhole: True for a file that must open, whatever it contains.
  static func read(_ bytes: [UInt8], _ key: KDBXKey, isWhole: Bool = false) -> Bool {
    do throws(ImportFailure) {
      let header = try KDBXHeader(bytes)
      var budget = KDBXBudget(fileCount: bytes.count)
      guard let container = try KDBXContainer(header, key, &budget) else {
        precondition(!isWhole, "the key does not open the file")
        return false
      }
      var account = KDBXAccount(try KDBXTree.read(container, budget))
      var sink = FittingEntries()
      try sink.begin(ImportedFormat(name: "kdbx", detail: "", source: account.source))
      try account.send("a", to: &sink)
      return true
    } catch {
      precondition(!error.reason.isEmpty && error.code != .failed, error.reason)
      return false
    }
  }
}
