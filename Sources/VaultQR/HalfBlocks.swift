internal import VaultBytes
internal import VaultWire

/// A QR code as text: Unicode's half blocks show two rows of modules in each line of the terminal.
///
/// The colors are set explicitly, black on white, so that a camera can read the code on light and dark terminals. Both
/// come from the fixed part of the 256 colors, because themes change the first 16 and could make both beige.
enum HalfBlocks {
  /// The width in modules of the light border that the standard requires around the code.
  static let quietZone = 4

  /// The number of columns that the text takes.
  static func columns(of code: borrowing QRCode) -> Int { code.size + 2 * quietZone }

  static func draw(_ code: borrowing QRCode) -> SecretBuffer {
    let range = -quietZone..<(code.size + quietZone)
    // A half block takes three bytes, and the color codes take about thirty in each line.
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
