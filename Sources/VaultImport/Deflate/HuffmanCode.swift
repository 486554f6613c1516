internal import VaultWire

/// A Huffman code in the canonical form of DEFLATE (RFC 1951 section 3.2.2).
struct HuffmanCode {
  /// The longest code in bits.
  static let longest = 15
  /// The longest code that the table decodes; the rare longer ones are decoded bit by bit. A larger table would make
  /// a file of many small blocks slow.
  private static let tableBits = 10

  /// The symbol and, in the lowest four bits, the length of its code, for each value of the next bits; 0 for a code
  /// that is longer or does not exist.
  private var table: [UInt16]
  /// The number of codes of each length, and the symbols in the order of their codes.
  private var counts: [Int]
  private var symbols: [UInt16]

  /// Makes the code from the lengths of the codes of all symbols; 0 stands for a symbol without a code.
  ///
  /// - Throws: ``ImportFailure`` for lengths that no code has. As in zlib, a code may leave bits unused only if it has
  ///   one symbol at most.
  init(_ lengths: some RandomAccessCollection<UInt8>) throws(ImportFailure) {
    counts = Array(repeating: 0, count: Self.longest + 1)
    for length in lengths { counts[Int(length)] += 1 }
    let used = lengths.count - counts[0]
    counts[0] = 0
    var (left, starts) = (1, Array(repeating: 0, count: Self.longest + 2))
    for length in 1...Self.longest {
      left = left * 2 - counts[length]
      guard left >= 0 else { throw .inflation("a Huffman code has too many codes") }
      starts[length + 1] = starts[length] + counts[length]
    }
    guard left == 0 || used == 0 || (used == 1 && counts[1] == 1) else {
      throw .inflation("a Huffman code is incomplete")
    }
    symbols = Array(repeating: 0, count: used)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      symbols[starts[Int(length)]] = UInt16(symbol)
      starts[Int(length)] += 1
    }
    table = Array(repeating: 0, count: 1 << Self.tableBits)
    fillTable()
  }

  private mutating func fillTable() {
    var (code, index) = (0, 0)
    for length in 1...Self.tableBits {
      for _ in 0..<counts[length] {
        // The bits of a code come with the most significant first, unlike all other bits.
        var slot = 0
        for bit in 0..<length where code & (1 << bit) != 0 { slot |= 1 << (length - 1 - bit) }
        let value = symbols[index] << 4 | UInt16(length)
        while slot < table.count {
          table[slot] = value
          slot += 1 << length
        }
        code += 1
        index += 1
      }
      code <<= 1
    }
  }

  /// Takes the next symbol.
  @inline(__always)
  func symbol(_ bits: inout BitReader) throws(ImportFailure) -> Int {
    try bits.fill(Self.longest)
    let value = table[bits.peek(Self.tableBits)]
    guard value != 0 else { return try longSymbol(&bits) }
    try bits.drop(Int(value & 15))
    return Int(value >> 4)
  }

  private func longSymbol(_ bits: inout BitReader) throws(ImportFailure) -> Int {
    var (code, first, index) = (0, 0, 0)
    let next = bits.peek(Self.longest)
    for length in 1...Self.longest {
      code |= next >> (length - 1) & 1
      if code - first < counts[length] {
        try bits.drop(length)
        return Int(symbols[index + code - first])
      }
      index += counts[length]
      first = (first + counts[length]) << 1
      code <<= 1
    }
    throw .inflation("a code stands for nothing")
  }
}

extension ImportFailure {
  static func inflation(_ fault: String) -> ImportFailure {
    ImportFailure(.damaged, "the compressed data are damaged: \(fault)")
  }
}
