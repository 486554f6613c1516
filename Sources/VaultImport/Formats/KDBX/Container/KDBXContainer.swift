internal import VaultWire

/// An opened KDBX file: the content without the encryption, and the facts that it needs.
struct KDBXContainer {
  /// The document in XML.
  var document: StreamReader
  let protection: KDBXProtection
  /// The attachments, in the order of their numbers; empty in KDBX 3.1, where the document contains them.
  let binaries: [KDBXBinary]

  /// Opens the file; nil if the key is wrong.
  ///
  /// - Throws: ``ImportFailure`` if the file is damaged or exceeds a limit.
  init?(_ header: KDBXHeader, _ key: KDBXKey, _ budget: inout KDBXBudget) throws(ImportFailure) {
    let cipher = try header.cipher(key: key.cipher)
    if header.major == 4 {
      guard let body = try Self.body(header, key) else { return nil }
      let plain = KDBXCipherStream(KDBXAuthenticatedBlocks(body, key: key.blocks), cipher)
      document = try Self.expanded(plain, header)
      (protection, binaries) = try KDBXInnerHeader.read(&document, &budget)
    } else {
      var plain = StreamReader(KDBXCipherStream(SliceStream(header.body), cipher))
      let start = try header.startBytes
      guard header.body.count > start.count else { throw .cutOff }
      // The wrong key also leads to a wrong padding, if the content is so short that the padding is met here.
      guard let found = try? plain.take(start.count), found == Array(start) else { return nil }
      document = try Self.expanded(KDBXHashedBlocks(plain), header)
      (protection, binaries) = (try header.protection, [])
    }
  }

  private static func expanded(_ stream: some ByteStream, _ header: KDBXHeader) throws(ImportFailure) -> StreamReader {
    guard try header.isCompressed else { return StreamReader(stream) }
    return StreamReader(try Gunzip(stream))
  }

  /// The blocks of a KDBX 4 file, behind the hash and the HMAC of the header; nil if the HMAC shows a wrong key.
  private static func body(_ header: KDBXHeader, _ key: KDBXKey) throws(ImportFailure) -> ArraySlice<UInt8>? {
    guard header.body.count >= 64 else { throw .cutOff }
    try check(header)
    let headerKey = try KDBXAuthenticatedBlocks.key(KDBXAuthenticatedBlocks.headerIndex, key.blocks)
    let code = try KDBXDigest.hmac(key: headerKey, header.bytes)
    guard code == Array(header.body.dropFirst(32).prefix(32)) else { return nil }
    return header.body.dropFirst(64)
  }

  /// Checks the hash of the header of a KDBX 4 file, which needs no key.
  static func check(_ header: KDBXHeader) throws(ImportFailure) {
    guard header.major == 4 else { return }
    guard header.body.count >= 32 else { throw .cutOff }
    guard try KDBXDigest.sha256(header.bytes) == Array(header.body.prefix(32)) else {
      throw ImportFailure(.damaged, "the database is damaged: the checksum of its header does not match")
    }
  }
}
