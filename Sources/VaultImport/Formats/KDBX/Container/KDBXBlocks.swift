internal import VaultWire

/// The ciphertext of a KDBX 4 file, which comes in blocks with an HMAC each (KeePass: HmacBlockStream.cs).
struct KDBXAuthenticatedBlocks: ByteStream {
  /// The number of the header, which has an HMAC like the blocks.
  static let headerIndex = UInt64.max

  private var rest: ArraySlice<UInt8>
  /// The key from which those of the blocks are made.
  private let key: [UInt8]
  private var index: UInt64 = 0
  private var block = SliceStream([])
  private var isEnded = false

  init(_ bytes: ArraySlice<UInt8>, key: [UInt8]) { (rest, self.key) = (bytes, key) }

  /// The key of one block.
  static func key(_ index: UInt64, _ key: [UInt8]) throws(ImportFailure) -> [UInt8] {
    try KDBXDigest.sha512(index.littleEndianBytes[...], key[...])
  }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
    while !isEnded {
      if let piece = block.next() { return piece }
      guard rest.count >= 36 else { throw .cutOff }
      let (code, size) = (rest.prefix(32), rest.dropFirst(32).prefix(4))
      guard let count = Int(exactly: size.littleEndian), count <= rest.count - 36 else { throw .cutOff }
      let bytes = rest.dropFirst(36).prefix(count)
      let expected = try KDBXDigest.hmac(
        key: Self.key(index, key), index.littleEndianBytes[...], size, bytes)
      guard expected == Array(code) else {
        throw ImportFailure(.damaged, "the database is damaged: the checksum of block \(index) does not match")
      }
      rest = rest.dropFirst(36 + count)
      index += 1
      block = SliceStream(bytes)
      isEnded = count == 0
    }
    return nil
  }
}

/// The plaintext of a KDBX 3.1 file, which comes in blocks with a hash each (KeePass: HashedBlockStream.cs).
///
/// The bytes of a block are passed on before its hash is checked; the check fails before the end of the stream.
struct KDBXHashedBlocks: ByteStream {
  private var input: StreamReader
  private var index: UInt64 = 0
  /// The rest of a block.
  private var left: UInt64 = 0
  private var hash: [UInt8] = []
  private var digest: KDBXDigest?
  private var isEnded = false

  init(_ input: StreamReader) { self.input = input }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
    while !isEnded {
      if left > 0 {
        guard let piece = try input.next(atMost: Int(left)) else { throw .cutOff }
        digest?.add(piece)
        left -= UInt64(piece.count)
        return piece
      }
      if let digest, try digest.value() != hash { throw damaged }
      digest = nil
      guard try input.take(4).littleEndian == index else { throw damaged }
      hash = try input.take(32)
      left = try input.take(4).littleEndian
      if left == 0 {
        guard hash.allSatisfy({ $0 == 0 }) else { throw damaged }
        isEnded = true
      } else {
        digest = try KDBXDigest(.sha256)
        index += 1
      }
    }
    return nil
  }

  private var damaged: ImportFailure {
    ImportFailure(.damaged, "the database is damaged: block \(index) is wrong")
  }
}

extension UInt64 {
  /// The eight bytes of the number, the least significant first.
  var littleEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}
