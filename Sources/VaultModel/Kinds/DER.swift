/// One element of a DER encoding (ITU-T X.690), as offsets into it.
struct DERElement {
  /// The identifier octet: class, form and a tag number below 31.
  var tag: UInt8
  /// The contents octets.
  var content: Range<Int>
}

/// Walks over sibling elements, never outside its range. Anything unusual ends the walk with `nil`.
struct DERCursor {
  private var position: Int
  private let end: Int

  /// Starts at the first element in `range`, which lies inside the bytes that are given to ``next(in:)``.
  init(_ range: Range<Int>) {
    position = range.lowerBound
    end = range.upperBound
  }

  /// True when all elements were taken.
  var isAtEnd: Bool { position == end }

  /// Takes the next element, whatever it is.
  mutating func next(in bytes: RawSpan) -> DERElement? {
    guard end - position >= 2 else { return nil }
    let tag = bytes.byte(position)
    // Tag numbers from 31 on take more octets; nothing read here has them.
    guard tag & 0x1F != 0x1F, let (count, start) = length(in: bytes, at: position + 1), count <= end - start else {
      return nil
    }
    position = start + count
    return DERElement(tag: tag, content: start..<position)
  }

  /// Takes the next element when it has `tag`.
  mutating func take(_ tag: UInt8, in bytes: RawSpan) -> DERElement? {
    guard position < end, bytes.byte(position) == tag else { return nil }
    return next(in: bytes)
  }

  /// Reads a definite length of at most four octets in its shortest form, and where the contents start.
  private func length(in bytes: RawSpan, at offset: Int) -> (count: Int, start: Int)? {
    let first = Int(bytes.byte(offset))
    if first < 0x80 { return (first, offset + 1) }
    let octets = first & 0x7F
    guard (1...4).contains(octets), octets <= end - offset - 1 else { return nil }
    var count = 0
    for index in 1...octets { count = count << 8 | Int(bytes.byte(offset + index)) }
    guard count >= 0x80, octets == 1 || count >> (8 * (octets - 1)) != 0 else { return nil }
    return (count, offset + 1 + octets)
  }
}

/// The identifier octets that keys and certificates are made of.
enum DERTag {
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let utcTime: UInt8 = 0x17
  static let generalizedTime: UInt8 = 0x18
  static let sequence: UInt8 = 0x30
  static let context0: UInt8 = 0xA0
}
