internal import VaultWire

/// The decompression of DEFLATE (RFC 1951), piece by piece.
///
/// Memory is bounded: a window of 32 KiB, one piece of output, and one of input.
struct Inflate: ByteStream {
  /// The farthest distance of a repetition, and the size at which a piece of output is passed on.
  private static let window = 32 << 10
  private static let pieceCount = 64 << 10

  private enum State {
    /// Between two blocks.
    case between
    /// Within a block of bytes that are not compressed, of which as many are left.
    case stored(Int)
    case compressed(literals: HuffmanCode, distances: HuffmanCode)
    case ended
  }

  private(set) var bits: BitReader
  private let limit: ExpansionLimit
  private var state = State.between
  private var isLastBlock = false
  /// The bytes that a repetition can reach, and those that came out since the last piece.
  private var output: [UInt8] = []
  /// The number of bytes that came out before those in `output`.
  private var passed = 0

  init(_ input: any ByteStream, limit: ExpansionLimit = ExpansionLimit()) {
    self.init(BitReader(input), limit: limit)
  }

  /// Goes on at a byte of a stream.
  init(_ bits: BitReader, limit: ExpansionLimit) { (self.bits, self.limit) = (bits, limit) }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
    if output.count > Self.window {
      passed += output.count - Self.window
      output.removeFirst(output.count - Self.window)
    }
    let start = output.count
    while output.count - start < Self.pieceCount {
      switch state {
      case .between:
        if isLastBlock { state = .ended } else { try beginBlock() }
      case .stored(let left): try copy(left, upTo: start + Self.pieceCount)
      case .compressed(let literals, let distances):
        if try expand(literals, distances, upTo: start + Self.pieceCount) { state = .between }
      case .ended: return output.count == start ? nil : output[start...]
      }
      try limit.check(output: passed + output.count, input: bits.byteCount)
    }
    return output[start...]
  }

  private mutating func beginBlock() throws(ImportFailure) {
    isLastBlock = try bits.take(1) == 1
    switch try bits.take(2) {
    case 0:
      try bits.alignToByte()
      let (count, complement) = (try bits.take(16), try bits.take(16))
      guard count == ~complement & 0xFFFF else { throw .inflation("the size of a block is wrong") }
      state = .stored(count)
    case 1:
      let codes = try Self.fixed.get()
      state = .compressed(literals: codes.literals, distances: codes.distances)
    case 2: state = try readCodes()
    default: throw .inflation("a block is of an unknown kind")
    }
  }

  /// Copies bytes of a block that is not compressed.
  private mutating func copy(_ count: Int, upTo end: Int) throws(ImportFailure) {
    var left = count
    while left > 0, output.count < end {
      guard let bytes = try bits.bytes(atMost: min(left, end - output.count)) else { throw .cutOff }
      output += bytes
      left -= bytes.count
    }
    state = left == 0 ? .between : .stored(left)
  }
}

// Compressed blocks.
extension Inflate {
  /// The least length, and the number of bits that are added to it, for each symbol from 257 on (section 3.2.5).
  private static let lengths: [(least: Int, bits: Int)] = [
    (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 1), (13, 1), (15, 1), (17, 1), (19, 2),
    (23, 2), (27, 2), (31, 2), (35, 3), (43, 3), (51, 3), (59, 3), (67, 4), (83, 4), (99, 4), (115, 4), (131, 5),
    (163, 5), (195, 5), (227, 5), (258, 0),
  ]
  /// The same for the symbols of distances.
  private static let distances: [(least: Int, bits: Int)] = (0..<30).map { symbol in
    let bits = max(0, symbol / 2 - 1)
    return (symbol < 2 ? symbol + 1 : (2 + symbol % 2) << bits + 1, bits)
  }
  /// The order in which the lengths of the code of lengths are written (section 3.2.7).
  private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  private static let fixedLengths: [UInt8] =
    Array(repeating: 8, count: 144) + Array(repeating: 9, count: 112) + Array(repeating: 7, count: 24)
    + Array(repeating: 8, count: 8)

  /// The codes of a block that names none (section 3.2.6). The two symbols of distances that no code may use are
  /// refused where they occur.
  private static let fixed = Result { () throws(ImportFailure) in
    (literals: try HuffmanCode(fixedLengths), distances: try HuffmanCode(Array(repeating: 5, count: 32)))
  }

  /// Reads the codes at the start of a block (section 3.2.7).
  private mutating func readCodes() throws(ImportFailure) -> State {
    let (literalCount, distanceCount, orderCount) = (try bits.take(5) + 257, try bits.take(5) + 1, try bits.take(4) + 4)
    guard literalCount <= 286, distanceCount <= 30 else { throw .inflation("a block has too many symbols") }
    var orderLengths = Array(repeating: UInt8(0), count: 19)
    for index in Self.order.prefix(orderCount) { orderLengths[index] = UInt8(try bits.take(3)) }
    let lengthCode = try HuffmanCode(orderLengths)
    var lengths: [UInt8] = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try lengthCode.symbol(&bits)
      let (value, count): (UInt8, Int)
      switch symbol {
      case 16:
        guard let last = lengths.last else { throw .inflation("a repetition has nothing to repeat") }
        (value, count) = (last, 3 + (try bits.take(2)))
      case 17: (value, count) = (0, 3 + (try bits.take(3)))
      case 18: (value, count) = (0, 11 + (try bits.take(7)))
      default: (value, count) = (UInt8(symbol), 1)
      }
      lengths.append(contentsOf: repeatElement(value, count: count))
    }
    guard lengths.count == literalCount + distanceCount, lengths[256] != 0 else {
      throw .inflation("a block has wrong codes")
    }
    return .compressed(
      literals: try HuffmanCode(lengths[..<literalCount]), distances: try HuffmanCode(lengths[literalCount...]))
  }

  /// Decodes symbols up to the end of the block, or until enough came out; returns true at the end of the block.
  private mutating func expand(
    _ literals: HuffmanCode, _ distances: HuffmanCode, upTo end: Int
  ) throws(ImportFailure) -> Bool {
    while output.count < end {
      let symbol = try literals.symbol(&bits)
      if symbol < 256 {
        output.append(UInt8(truncatingIfNeeded: symbol))
        continue
      }
      if symbol == 256 { return true }
      guard symbol - 257 < Self.lengths.count else { throw .inflation("a length is unknown") }
      let length = Self.lengths[symbol - 257]
      let count = length.least + (try bits.take(length.bits))
      let distanceSymbol = try distances.symbol(&bits)
      guard distanceSymbol < Self.distances.count else { throw .inflation("a distance is unknown") }
      let distance = Self.distances[distanceSymbol]
      try repeatBytes(count, distance: distance.least + (try bits.take(distance.bits)))
    }
    return false
  }

  private mutating func repeatBytes(_ count: Int, distance: Int) throws(ImportFailure) {
    let start = output.count - distance
    guard start >= 0 else { throw .inflation("a distance is too far") }
    // Byte by byte, because the repeated bytes may overlap the new ones; a slice of the array would copy all of it.
    for place in start..<start + count { output.append(output[place]) }
  }
}
