internal import VaultWire

/// A QR code as text: two rows of modules in each line of the terminal, by Unicode's half blocks.
///
/// The colours are named, black on white, so that it reads on light terminals and on dark ones. They are those of the fixed
/// part of the 256 colours: a terminal's themes change the first 16, and then white may be beige on beige.
enum HalfBlocks {
  /// The light modules that the standard wants around the code.
  static let quietZone = 4

  /// The columns of the text.
  static func columns(of code: borrowing QRCode) -> Int { code.size + 2 * quietZone }

  static func draw(_ code: borrowing QRCode) -> SecretBuffer {
    let range = -quietZone..<(code.size + quietZone)
    // A half block has three bytes, and the colours some thirty in each line.
    var text = SecretBuffer(capacity: (3 * range.count + 40) * (range.count / 2 + 1))
    for row in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
      text.append("\u{1B}[38;5;16;48;5;231m" as StaticString)
      for column in range {
        let half: StaticString =
          switch (code.isDark(column, row), code.isDark(column, row + 1)) {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        text.append(half)
      }
      text.append("\u{1B}[0m\n" as StaticString)
    }
    return text
  }
}
