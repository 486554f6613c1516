/// The lines of a text with their numbers, without their ends and without a byte order mark before the first.
struct TextLines: Sequence, IteratorProtocol {
  struct Line {
    /// The number, counted from 1.
    let number: Int
    let bytes: ArraySlice<UInt8>

    /// The line without the blanks around it.
    var trimmed: ArraySlice<UInt8> { bytes.trimmed }
  }

  private(set) var rest: ArraySlice<UInt8>
  private var number = 0

  init(_ bytes: [UInt8]) { rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...] }

  mutating func next() -> Line? {
    guard !rest.isEmpty else { return nil }
    let line = rest.prefix { $0 != 0x0A }
    rest = rest.dropFirst(line.count + 1)
    number += 1
    return Line(number: number, bytes: line.last == 0x0D ? line.dropLast() : line)
  }
}

extension ArraySlice<UInt8> {
  /// The bytes without the blanks around them.
  var trimmed: ArraySlice<UInt8> {
    let start = drop { $0.isBlank }
    return start.lastIndex { !$0.isBlank }.map { start[...$0] } ?? []
  }

  /// The bytes as text; those that are not UTF-8 are replaced.
  var text: String { String(decoding: self, as: UTF8.self) }

  /// True if the bytes are those of the text.
  func reads(_ text: String) -> Bool { elementsEqual(text.utf8) }

  /// The parts before and after the first `byte`; nil if there is none.
  func divided(at byte: UInt8) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    firstIndex(of: byte).map { (self[..<$0], self[($0 + 1)...]) }
  }
}

extension UInt8 {
  /// True for a space, a tab and the ends of lines.
  var isBlank: Bool { [0x20, 0x09, 0x0D, 0x0A, 0x0B, 0x0C].contains(self) }

  /// The lower-case letter of an ASCII letter; any other byte as it is.
  var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
