internal import VaultWire

/// Bytes that come in pieces, so that no stage of the reading of a file holds all of them.
protocol ByteStream {
  /// The next piece, which is not empty; nil at the end.
  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>?
}

/// The bytes of an array, in pieces that later stages hold comfortably.
struct SliceStream: ByteStream {
  /// The most bytes of a piece.
  static let pieceCount = 128 << 10

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func next() -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    defer { rest = rest.dropFirst(Self.pieceCount) }
    return rest.prefix(Self.pieceCount)
  }
}

/// A stream from which exact numbers of bytes can be taken; what is left is a stream again.
struct StreamReader: ByteStream {
  private var input: any ByteStream
  private var piece: ArraySlice<UInt8> = []

  init(_ input: any ByteStream) { self.input = input }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? { try next(atMost: Int.max) }

  /// The next piece, of `count` bytes at most; nil at the end.
  mutating func next(atMost count: Int) throws(ImportFailure) -> ArraySlice<UInt8>? {
    if piece.isEmpty {
      guard let next = try input.next() else { return nil }
      piece = next
    }
    defer { piece = piece.dropFirst(count) }
    return piece.prefix(count)
  }

  /// The next `count` bytes, which must be a number that the caller can hold.
  ///
  /// - Throws: ``ImportFailure`` if the stream ends before.
  mutating func take(_ count: Int) throws(ImportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      guard let more = try next(atMost: count - bytes.count) else { throw .cutOff }
      bytes += more
    }
    return bytes
  }

  /// Passes over the next `count` bytes.
  mutating func skip(_ count: Int) throws(ImportFailure) {
    var left = count
    while left > 0 {
      guard let more = try next(atMost: left) else { throw .cutOff }
      left -= more.count
    }
  }
}

extension ImportFailure {
  /// The failure of a file that ends too early.
  static var cutOff: ImportFailure { ImportFailure(.damaged, "the file is cut off") }
}

extension RandomAccessCollection<UInt8> {
  /// The bytes as a number, the least significant first; at most eight of them are read.
  var littleEndian: UInt64 { prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
