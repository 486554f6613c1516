/// Durations as people write them: a number and one unit.
public enum Seconds {
  /// Reads `90`, `90s`, `15m`, `12h`, `7d`, `1w`, `6mo` (of 30 days) or `1y` (of 365).
  ///
  /// - Returns: The seconds, or `nil` for any other text: a sign, a fraction, a second unit, a number out of range.
  public static func parse(_ text: String) -> Int64? {
    let digits = text.utf8.prefix(while: isDigit)
    guard let unit = seconds(in: String(Substring(text.utf8[digits.endIndex...]))) else { return nil }
    guard !digits.isEmpty, let number = Int64(Substring(digits)) else { return nil }
    let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : seconds
  }

  /// Writes a duration with its two largest units: `45 s`, `5 min`, `2 h 3 min`, `7 d`.
  ///
  /// Smaller units are cut off, not rounded; a negative duration has a minus sign.
  public static func format(_ seconds: Int64) -> String {
    let units: [(size: UInt64, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
    let magnitude = seconds.magnitude
    guard let first = units.firstIndex(where: { magnitude >= $0.size }) else { return "0 s" }
    var text = "\(seconds < 0 ? "-" : "")\(magnitude / units[first].size) \(units[first].name)"
    if first + 1 < units.count {
      let rest = magnitude % units[first].size / units[first + 1].size
      if rest > 0 { text += " \(rest) \(units[first + 1].name)" }
    }
    return text
  }

  /// The time that is `seconds` after `time`, limited to the range of the integer, because a clock or a message may
  /// contain any number.
  public static func after(_ seconds: Int64, _ time: Int64) -> Int64 {
    let (sum, overflow) = time.addingReportingOverflow(seconds)
    return overflow ? (seconds < 0 ? .min : .max) : sum
  }

  /// The seconds from `start` to `end`, limited to the range of the integer.
  public static func from(_ start: Int64, to end: Int64) -> Int64 {
    let (difference, overflow) = end.subtractingReportingOverflow(start)
    return overflow ? (end < start ? .min : .max) : difference
  }

  private static func seconds(in unit: String) -> Int64? {
    switch unit {
    case "", "s": 1
    case "m": 60
    case "h": 3_600
    case "d": 86_400
    case "w": 604_800
    case "mo": 30 * 86_400
    case "y": 365 * 86_400
    default: nil
    }
  }
}

/// True if `byte` is an ASCII digit.
func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
