internal import VaultWire

/// The bits of a stream in the order of DEFLATE: from the least significant bit of each byte on (RFC 1951 section
/// 3.1.1).
struct BitReader {
  private var input: any ByteStream
  private var piece: [UInt8] = []
  private var place = 0
  /// The next bits, of which `count` are valid; the others are zero.
  private var held: UInt64 = 0
  private var count = 0
  /// The number of bytes that were taken out of the stream.
  private var taken = 0

  init(_ input: any ByteStream) { self.input = input }

  /// The number of bytes before the next bit, the byte that contains it included.
  var byteCount: Int { taken - count / 8 }

  /// Makes the next `wanted` bits available, at most 48, or as many as are left.
  @inline(__always)
  mutating func fill(_ wanted: Int) throws(ImportFailure) { if count < wanted { try refill() } }

  private mutating func refill() throws(ImportFailure) {
    while count <= 56 {
      if place == piece.count {
        guard let next = try input.next() else { return }
        (piece, place) = (Array(next), 0)
      }
      held |= UInt64(piece[place]) << UInt64(count)
      place += 1
      taken += 1
      count += 8
    }
  }

  /// The next bits without taking them. After the end they are zero.
  @inline(__always)
  func peek(_ bits: Int) -> Int { Int(truncatingIfNeeded: held & (1 << UInt64(bits) - 1)) }

  /// Takes bits that were looked at.
  @inline(__always)
  mutating func drop(_ bits: Int) throws(ImportFailure) {
    guard bits <= count else { throw .cutOff }
    held >>= UInt64(bits)
    count -= bits
  }

  /// Takes up to 32 bits as a number.
  @inline(__always)
  mutating func take(_ bits: Int) throws(ImportFailure) -> Int {
    try fill(bits)
    let value = peek(bits)
    try drop(bits)
    return value
  }

  /// Passes over the rest of a byte.
  mutating func alignToByte() throws(ImportFailure) { try drop(count % 8) }

  /// Takes whole bytes, at most `most` and at least one; nil at the end of the stream. The place must be aligned.
  mutating func bytes(atMost most: Int) throws(ImportFailure) -> ArraySlice<UInt8>? {
    if count >= 8 {
      let byte = UInt8(truncatingIfNeeded: held)
      try drop(8)
      return [byte]
    }
    if place == piece.count {
      guard let next = try input.next() else { return nil }
      (piece, place) = (Array(next), 0)
    }
    let end = place + min(most, piece.count - place)
    defer {
      taken += end - place
      place = end
    }
    return piece[place..<end]
  }
}
