/// The places of characters in a text: libyaml counts characters, and everyone else counts bytes.
struct YAMLPlaces {
  private static let step = 256

  private let bytes: [UInt8]
  /// The place of every 256th character.
  private var marks: [Int] = []

  /// - Parameter start: The place of the first character.
  init(_ bytes: [UInt8], from start: Int) {
    self.bytes = bytes
    marks.reserveCapacity((bytes.count - start) / Self.step + 1)
    var characters = 0
    for place in start..<bytes.count where bytes[place] & 0xC0 != 0x80 {
      if characters % Self.step == 0 { marks.append(place) }
      characters += 1
    }
  }

  /// The bytes of the characters from one up to another.
  func range(_ start: Int, _ end: Int) -> Range<Int> {
    let first = place(start)
    return first..<max(first, place(end))
  }

  /// The place of a character; the end of the text for one after it.
  private func place(_ character: Int) -> Int {
    guard character >= 0, character / Self.step < marks.count else { return bytes.count }
    var place = marks[character / Self.step]
    var left = character % Self.step
    while left > 0, place < bytes.count {
      place += 1
      while place < bytes.count, bytes[place] & 0xC0 == 0x80 { place += 1 }
      left -= 1
    }
    return place
  }
}
