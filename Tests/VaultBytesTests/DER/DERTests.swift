import Testing
import VaultBytes

@Suite("DER") struct DERTests {
  private static func element(_ bytes: [UInt8], until end: Int? = nil) -> DERElement? {
    var cursor = DERCursor(0..<(end ?? bytes.count))
    let span = unsafe bytes.span.bytes
    return cursor.next(in: span)
  }

  /// Reads the elements of a range, those within constructed ones too, and writes them again; nil if one cannot be
  /// read.
  private static func rewritten(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8]? {
    let span = unsafe bytes.span.bytes
    var cursor = DERCursor(range)
    var result: [UInt8] = []
    while !cursor.isAtEnd {
      guard let element = cursor.next(in: span) else { return nil }
      let isConstructed = element.tag & 0x20 != 0
      let content = isConstructed ? rewritten(bytes, element.content) : Array(bytes[element.content])
      guard let content else { return nil }
      result += DER.element(element.tag, content)
    }
    return result
  }

  /// The octets of a length are in X.690, sections 8.1.3.4 and 8.1.3.5, whose example is 201.
  @Test(
    "a length has the shortest of its forms",
    arguments: [
      (0, [0]), (1, [1]), (127, [0x7F]), (128, [0x81, 0x80]), (201, [0x81, 0xC9]), (255, [0x81, 0xFF]),
      (256, [0x82, 1, 0]), (65535, [0x82, 0xFF, 0xFF]), (65536, [0x83, 1, 0, 0]),
      (0xFF_FFFF, [0x83, 0xFF, 0xFF, 0xFF]), (0x100_0000, [0x84, 1, 0, 0, 0]),
    ] as [(Int, [UInt8])])
  func lengths(count: Int, octets: [UInt8]) {
    let header = [DERTag.octetString] + octets
    #expect(DER.header(DERTag.octetString, count: count) == header)
    let bytes = header + [UInt8](repeating: 0, count: count)
    #expect(Self.element(bytes)?.content == header.count..<bytes.count)
    // More bytes may follow.
    #expect(Self.element(bytes + [7])?.content == header.count..<bytes.count)
    for end in Set(0...header.count).union([bytes.count - 1]) where end < bytes.count {
      #expect(Self.element(bytes, until: end) == nil, "\(end)")
    }
  }

  @Test(
    "lengths that are indefinite, longer than they need be or of too many octets end the walk",
    arguments: [
      [0x80], [0x81, 0], [0x81, 1], [0x81, 0x7F], [0x82, 0, 0x80], [0x82, 0, 0xFF], [0x83, 0, 1, 0],
      [0x84, 0, 1, 0, 0], [0x85, 0, 0, 0, 0, 1], [0x85, 1, 0, 0, 0, 0],
      [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0xFF],
    ] as [[UInt8]])
  func badLengths(octets: [UInt8]) {
    #expect(Self.element([DERTag.octetString] + octets + [UInt8](repeating: 0, count: 70_000)) == nil)
  }

  @Test("a length beyond the end ends the walk", arguments: [[0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0], [1]] as [[UInt8]])
  func tooLong(octets: [UInt8]) { #expect(Self.element([DERTag.octetString] + octets) == nil) }

  @Test("of any two octets of a length, those are read that are also written") func everyLength() {
    var bytes = [UInt8](repeating: 0, count: 70_000)
    bytes[0] = DERTag.octetString
    var read = 0
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        (bytes[1], bytes[2]) = (first, second)
        guard let content = Self.element(bytes)?.content else { continue }
        read += 1
        let header = DER.header(DERTag.octetString, count: content.count)
        if header != Array(bytes[..<content.lowerBound]) { Issue.record("\(first) \(second)") }
      }
    }
    // One octet; two; three with a zero as the last one; four with two zeros.
    #expect(read == 128 * 256 + 128 + 255 + 1)
  }

  @Test("every tag is read, except those that go on in more octets") func tags() {
    for tag in UInt8.min...UInt8.max {
      let goesOn = [0x1F, 0x3F, 0x5F, 0x7F, 0x9F, 0xBF, 0xDF, 0xFF].contains(tag)
      #expect(Self.element([tag, 1, 7])?.tag == (goesOn ? nil : tag))
    }
  }

  @Test("a walk stays within its element") func siblings() {
    let bytes: [UInt8] = [0x30, 5, 0x02, 1, 9, 0x05, 0, 0x02, 1, 1]
    let span = unsafe bytes.span.bytes
    var outer = DERCursor(0..<bytes.count)
    guard let sequence = outer.take(0x30, in: span) else {
      Issue.record("no sequence")
      return
    }
    var inner = DERCursor(sequence.content)
    #expect(inner.take(0x05, in: span) == nil)
    #expect(inner.offset == 2)
    #expect(inner.take(0x02, in: span)?.content == 4..<5)
    #expect(inner.next(in: span)?.tag == 0x05)
    #expect(inner.isAtEnd && inner.next(in: span) == nil)
    #expect(inner.take(0x02, in: span) == nil)
    #expect(!outer.isAtEnd && outer.offset == 7)
  }

  @Test("an element that leaves the one around it is not read") func leaves() {
    let bytes: [UInt8] = [0x30, 3, 0x02, 2, 9, 9, 9]
    #expect(Self.element(bytes)?.content == 2..<5)
    #expect(Self.rewritten(bytes, 2..<5) == nil)
    #expect(Self.rewritten(bytes, 2..<6) == [0x02, 2, 9, 9])
  }

  @Test(
    "a number has as few octets as keep it positive",
    arguments: [
      ([], [0]), ([0], [0]), ([0, 0], [0]), ([1], [1]), ([0, 0, 1], [1]), ([0x7F], [0x7F]), ([0x80], [0, 0x80]),
      ([0xFF], [0, 0xFF]), ([1, 0], [1, 0]), ([0, 0x80, 0], [0, 0x80, 0]),
    ] as [([UInt8], [UInt8])])
  func unsigned(digits: [UInt8], content: [UInt8]) {
    let bytes = DER.unsigned(digits)
    #expect(bytes == [DERTag.integer, UInt8(content.count)] + content)
    let span = unsafe bytes.span.bytes
    var cursor = DERCursor(0..<bytes.count)
    let read = cursor.takeUnsigned(in: span)
    #expect(read.map { Array(bytes[$0]) } == Array(digits.drop { $0 == 0 }))
    #expect(cursor.isAtEnd)
    for end in 0..<bytes.count {
      var cut = DERCursor(0..<end)
      let read = cut.takeUnsigned(in: span)
      #expect(read == nil, "\(end)")
    }
  }

  @Test(
    "a negative number, one longer than it need be, one without octets and another tag are not read",
    arguments: [
      [2, 1, 0x80], [2, 1, 0xFF], [2, 2, 0, 0], [2, 2, 0, 0x7F], [2, 2, 0xFF, 0x80], [2, 0], [3, 1, 1],
    ] as [[UInt8]])
  func notUnsigned(bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    var cursor = DERCursor(0..<bytes.count)
    let read = cursor.takeUnsigned(in: span)
    #expect(read == nil)
  }

  @Test("of all numbers of two octets, those are read that are also written") func everyNumber() {
    var bytes: [UInt8] = [DERTag.integer, 2, 0, 0]
    var read = 0
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        (bytes[2], bytes[3]) = (first, second)
        let span = unsafe bytes.span.bytes
        var cursor = DERCursor(0..<bytes.count)
        guard let digits = cursor.takeUnsigned(in: span) else { continue }
        read += 1
        if DER.unsigned(bytes[digits]) != bytes { Issue.record("\(first) \(second)") }
      }
    }
    // 0x0080 to 0x7FFF.
    #expect(read == 0x8000 - 0x80)
  }

  /// The public key of RFC 8410, section 10.1.
  private static func publicKey() throws -> [UInt8] {
    try #require([UInt8](base64: "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="))
  }

  @Test("a public key is written as RFC 8410 shows it") func vector() throws {
    let bytes = try Self.publicKey()
    let algorithm = DER.element(DERTag.sequence, DER.element(DERTag.objectIdentifier, [0x2B, 0x65, 0x70]))
    #expect(DER.element(DERTag.sequence, algorithm + DER.bits(Array(bytes.suffix(32)))) == bytes)
    #expect(Self.rewritten(bytes, 0..<bytes.count) == bytes)
  }

  @Test("with any bit flipped or any bytes cut off, it is read as what it is, or not at all") func damage() throws {
    let bytes = try Self.publicKey()
    for bit in 0..<8 * bytes.count {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      let read = Self.rewritten(flipped, 0..<flipped.count)
      #expect(read == nil || read == flipped, "\(bit)")
    }
    for end in 1..<bytes.count {
      #expect(Self.rewritten(bytes, 0..<end) == nil, "\(end)")
      #expect(Self.rewritten(Array(bytes[..<end]), 0..<end) == nil, "\(end)")
    }
  }
}
