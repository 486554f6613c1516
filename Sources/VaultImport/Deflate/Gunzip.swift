internal import VaultWire

/// The decompression of the gzip format (RFC 1952), of one member.
///
/// The checksum and the size are checked at the end. Bytes after the member are ignored, but the stream is read to its
/// end, so that the checks of the stage before run too.
struct Gunzip: ByteStream {
  private var inflate: Inflate
  private var checksum = CRC32()
  private var count = 0
  private var isEnded = false

  /// Reads the header.
  init(_ input: any ByteStream, limit: ExpansionLimit = ExpansionLimit()) throws(ImportFailure) {
    var bits = BitReader(input)
    guard try bits.take(16) == 0x8B1F, try bits.take(8) == 8 else { throw .inflation("they are not in gzip's format") }
    let flags = try bits.take(8)
    guard flags & 0xE0 == 0 else { throw .inflation("gzip's header has unknown flags") }
    // The time, and facts about the program that compressed.
    for _ in 0..<3 { _ = try bits.take(16) }
    if flags & 4 != 0 { for _ in 0..<(try bits.take(16)) { _ = try bits.take(8) } }
    // The file's name and a comment, each ended by a zero byte.
    for flag in [8, 16] where flags & flag != 0 { while try bits.take(8) != 0 {} }
    if flags & 2 != 0 { _ = try bits.take(16) }
    inflate = Inflate(bits, limit: limit)
  }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
    if isEnded { return nil }
    if let bytes = try inflate.next() {
      checksum.add(bytes)
      count += bytes.count
      return bytes
    }
    isEnded = true
    var bits = inflate.bits
    try bits.alignToByte()
    guard try bits.take(32) == Int(checksum.value), try bits.take(32) == count & 0xFFFF_FFFF else {
      throw .inflation("the checksum does not match")
    }
    while try bits.bytes(atMost: Int.max) != nil {}
    return nil
  }
}
