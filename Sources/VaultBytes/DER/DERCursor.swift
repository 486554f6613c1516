/// One element of a DER encoding (ITU-T X.690), as offsets into the encoding.
package struct DERElement {
  /// The identifier octet: class, form and a tag number below 31.
  package var tag: UInt8
  /// The contents octets.
  package var content: Range<Int>
}

/// A walk over sibling elements that never leaves its range. Anything unusual ends the walk with `nil`.
package struct DERCursor {
  private var position: Int
  private let end: Int

  /// Starts at the first element in `range`, which lies within the bytes that are passed to ``next(in:)``.
  package init(_ range: Range<Int>) {
    position = range.lowerBound
    end = range.upperBound
  }

  /// The place at which the next element starts, or at which the last one ended.
  package var offset: Int { position }

  /// True if all elements were taken.
  package var isAtEnd: Bool { position == end }

  /// Takes the next element, whatever its tag.
  package mutating func next(in bytes: RawSpan) -> DERElement? {
    guard end - position >= 2 else { return nil }
    let tag = bytes.byte(position)
    // Tag numbers of 31 and above take more octets; no element that is read here has such a number.
    guard tag & 0x1F != 0x1F, let (count, start) = length(in: bytes, at: position + 1), count <= end - start else {
      return nil
    }
    position = start + count
    return DERElement(tag: tag, content: start..<position)
  }

  /// Takes the next element if it has `tag`.
  package mutating func take(_ tag: UInt8, in bytes: RawSpan) -> DERElement? {
    guard position < end, bytes.byte(position) == tag else { return nil }
    return next(in: bytes)
  }

  /// Reads a definite length of at most four octets in its shortest form, and the place where the contents start.
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

extension DERCursor {
  /// Takes a non-negative INTEGER in its shortest form, and returns the place of its digits: big-endian, without
  /// leading zeros, none for 0.
  package mutating func takeUnsigned(in bytes: RawSpan) -> Range<Int>? {
    guard let content = take(DERTag.integer, in: bytes)?.content, let start = content.first else { return nil }
    let first = bytes.byte(start)
    guard first < 0x80 else { return nil }
    guard first == 0 else { return content }
    guard content.count == 1 || bytes.byte(start + 1) >= 0x80 else { return nil }
    return content.dropFirst()
  }
}

/// The identifier octets that occur in keys and certificates.
package enum DERTag {
  package static let integer: UInt8 = 0x02
  package static let bitString: UInt8 = 0x03
  package static let octetString: UInt8 = 0x04
  package static let null: UInt8 = 0x05
  package static let objectIdentifier: UInt8 = 0x06
  package static let utcTime: UInt8 = 0x17
  package static let generalizedTime: UInt8 = 0x18
  package static let sequence: UInt8 = 0x30
  package static let context0: UInt8 = 0xA0
  package static let context1: UInt8 = 0xA1
  /// `[1] IMPLICIT` of a primitive type.
  package static let implicit1: UInt8 = 0x81
}
