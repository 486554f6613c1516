import Testing
import VaultBytes

@Suite("Text as UTF-8") struct UTF8TextTests {
  /// The rows of table 3-7 of the Unicode standard for more than one byte: the first byte, the second byte, and the
  /// number of bytes. Every other byte is 80 to BF.
  private static let rows: [(first: ClosedRange<UInt8>, second: ClosedRange<UInt8>, count: Int)] = [
    (0xC2...0xDF, 0x80...0xBF, 2), (0xE0...0xE0, 0xA0...0xBF, 3), (0xE1...0xEC, 0x80...0xBF, 3),
    (0xED...0xED, 0x80...0x9F, 3), (0xEE...0xEF, 0x80...0xBF, 3), (0xF0...0xF0, 0x90...0xBF, 4),
    (0xF1...0xF3, 0x80...0xBF, 4), (0xF4...0xF4, 0x80...0x8F, 4),
  ]

  private static func length(_ text: [UInt8], at offset: Int = 0) -> Int? { text.span.scalarLength(at: offset) }

  @Test("of all first and second bytes, those of table 3-7 begin a character") func pairs() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let row = Self.rows.first { $0.first.contains(first) && $0.second.contains(second) }
        let found = Self.length([first, second, 0x80, 0xBF])
        if found != row?.count { Issue.record("\(first) \(second): \(String(describing: found))") }
      }
    }
  }

  @Test("a third and a fourth byte that goes on with no character ends it") func tails() {
    for row in Self.rows {
      for byte in UInt8.min...UInt8.max {
        let goesOn = (0x80...0xBF).contains(byte)
        let third = Self.length([row.first.upperBound, row.second.lowerBound, byte, 0x80])
        #expect(third == (goesOn || row.count < 3 ? row.count : nil), "\(row) \(byte)")
        let fourth = Self.length([row.first.lowerBound, row.second.upperBound, 0x80, byte])
        #expect(fourth == (goesOn || row.count < 4 ? row.count : nil), "\(row) \(byte)")
      }
    }
  }

  @Test(
    "a character is found at its place, and not if it is cut off there",
    arguments: ["\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"])
  func cut(character: String) {
    let text = Array("a\(character)".utf8)
    #expect(Self.length(text, at: 1) == text.count - 1)
    for end in 2..<text.count {
      #expect(Self.length(Array(text[..<end]), at: 1) == nil, "\(end)")
      // A byte that begins another character does not complete it.
      #expect(Self.length(Array(text[..<end]) + [0xC3, 0xA9, 0x61], at: 1) == nil, "\(end)")
    }
  }

  @Test("text has no control character but tab, CR and LF, at any place among others") func controls() {
    for value in UInt32(0)...0x2FF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isText = scalar.properties.generalCategory != .control || [0x09, 0x0A, 0x0D].contains(value)
      for place in 0...9 {
        let before = String(repeating: "a", count: place)
        for text in [before + String(scalar), before + String(scalar) + "bcdefghij"] {
          let bytes = Array(text.utf8)
          let found = unsafe bytes.span.bytes.isText
          if found != isText { Issue.record("\(value) at \(place)") }
        }
      }
    }
  }

  @Test(
    "bytes that are not UTF-8 are no text",
    arguments: [
      [0x80], [0xC0, 0xAF], [0xC3], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF4, 0x90, 0x80, 0x80],
      [0xF0, 0x9F, 0x98], [0xFF],
    ] as [[UInt8]])
  func noText(bytes: [UInt8]) {
    for place in 0...9 {
      let text = [UInt8](repeating: 0x61, count: place) + bytes
      let found = unsafe text.span.bytes.isText
      #expect(!found, "\(place)")
    }
  }
}
