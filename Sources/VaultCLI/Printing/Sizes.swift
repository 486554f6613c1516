internal import ArgumentParser

/// Sizes as given on the command line.
enum Sizes {
  /// Parses a size in bytes: `64m`, `19M`, `19MiB`, `1g`, `65536k`, or a plain number.
  static func parse(_ text: String) throws -> Int {
    let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
    let short = text.hasSuffix("iB") ? text.dropLast(2) : text[...]
    let unit = short.last.flatMap { units[Character($0.lowercased())] }
    let digits = unit == nil ? text[...] : short.dropLast()
    guard let number = Int(digits), number > 0,
      case (let bytes, false) = number.multipliedReportingOverflow(by: unit ?? 1)
    else { throw ValidationError("`\(text)` is not a valid size; write it like 64m or 64MiB") }
    return bytes
  }
}
