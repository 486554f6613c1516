internal import ArgumentParser
internal import VaultModel

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

  /// A size in bytes for a person. The unit is the largest one for which the size is exactly 1, or at least 2.
  static func text(_ bytes: Int) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    where bytes >= 2 * size || bytes == size {
      return "\(bytes / size) \(unit)"
    }
    return Counted.text(bytes, "byte")
  }
}
