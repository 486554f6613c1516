/// The log beside a database (sqlite.org/walformat.html), parsed, and encoded again with checksums that
/// fit its present content.
struct LogFile {
  struct Frame {
    var page: UInt32
    /// The number of pages after the transaction that ends here; 0 if none does.
    var pageCount: UInt32
    var content: [UInt8]
    /// A number that is added to the salts.
    var stray: UInt32 = 0
  }

  static let pageSize = 4096
  /// The first 24 bytes of the log.
  var header: [UInt8]
  var frames: [Frame] = []

  /// Parses a log; nil for a log without a frame.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 32 + 24 + Self.pageSize else { return nil }
    header = Array(bytes[..<24])
    for start in stride(from: 32, through: bytes.count - 24 - Self.pageSize, by: 24 + Self.pageSize) {
      frames.append(
        Frame(
          page: Self.number(bytes, start), pageCount: Self.number(bytes, start + 4),
          content: Array(bytes[start + 24..<start + 24 + Self.pageSize])))
    }
  }

  /// The bytes of the file.
  func encoded() -> [UInt8] {
    var sums = Sums(isBigEndian: header[3] & 1 == 1)
    sums.add(header[...])
    var bytes = header + Self.bytes(sums.first) + Self.bytes(sums.second)
    bytes.reserveCapacity(bytes.count + frames.count * (24 + Self.pageSize))
    let salts = (Self.number(header, 16), Self.number(header, 20))
    for frame in frames {
      let head = Self.bytes(frame.page) + Self.bytes(frame.pageCount)
      sums.add(head[...])
      sums.add(frame.content[...])
      bytes += head + Self.bytes(salts.0 &+ frame.stray) + Self.bytes(salts.1)
      bytes += Self.bytes(sums.first) + Self.bytes(sums.second) + frame.content
    }
    return bytes
  }

  /// The pages of the database to which this log belongs, with the log folded in.
  func folded(into main: [UInt8]) -> [UInt8] {
    var main = main
    guard let last = frames.last(where: { $0.pageCount > 0 }) else { return main }
    let size = Int(last.pageCount) * Self.pageSize
    if main.count < size { main += [UInt8](repeating: 0, count: size - main.count) }
    for frame in frames where Int(frame.page) * Self.pageSize <= size {
      let start = (Int(frame.page) - 1) * Self.pageSize
      main.replaceSubrange(start..<start + Self.pageSize, with: frame.content)
    }
    return Array(main[..<size])
  }

  static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  static func bytes(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
}

/// The running checksums of a log.
private struct Sums {
  var first: UInt32 = 0
  var second: UInt32 = 0
  let isBigEndian: Bool

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    // Bytes that do not form a whole pair of words are not part of the checksums.
    bytes.span.withBytes { bytes in
      var offset = 0
      while offset + 8 <= bytes.byteCount {
        first = first &+ word(bytes, offset) &+ second
        second = second &+ word(bytes, offset + 4) &+ first
        offset += 8
      }
    }
  }

  private func word(_ bytes: RawSpan, _ offset: Int) -> UInt32 {
    // Every bit pattern is a number, and the span checks the place.
    let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
    return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
  }
}

extension Span<UInt8> {
  /// Lends the bytes, which have no padding.
  fileprivate func withBytes(_ body: (RawSpan) -> Void) { body(unsafe bytes) }
}
