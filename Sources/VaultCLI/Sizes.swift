internal import ArgumentParser
internal import Glibc
internal import VaultModel

/// Sizes, durations and dates as they are given on the command line.
enum Sizes {
  /// Bytes: `64m`, `19M`, `19MiB`, `1g`, `65536k`, or a plain number.
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

  /// Bytes as a person reads them: in the largest unit of which there is just one, or at least two.
  static func text(_ bytes: Int) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    where bytes >= 2 * size || bytes == size {
      return "\(bytes / size) \(unit)"
    }
    return "\(bytes) bytes"
  }

  /// Seconds: `90`, `15m`, `12h`, `7d`, `1w`.
  static func seconds(_ text: String) throws -> Int64 {
    guard let seconds = Seconds.parse(text), seconds > 0 else {
      throw ValidationError("`\(text)` is not a valid duration; write it like 90, 15m, 12h or 7d")
    }
    return seconds
  }

  /// For how long a call waits for a person, in seconds: 0 for not at all.
  static func wait(_ text: String) throws -> Int64 { text == "0" ? 0 : try seconds(text) }

  /// For how long a token is good, in seconds.
  static func lifetime(_ text: String) throws -> Int64 { try seconds(text) }

  /// For how long a proof counts, in seconds.
  static func reuse(_ text: String) throws -> Int64 {
    let longest = Policy.reuseWindows.upperBound
    let seconds = try seconds(text)
    guard seconds <= longest else { throw ValidationError("a proof counts for a day at most; give up to 1d") }
    return seconds
  }

  /// The time at which something expires, Unix time in seconds: a duration from now, or a date with or without a time; 0 for
  /// never.
  static func expiry(_ text: String) throws -> Int64 {
    if text == "never" { return 0 }
    if let seconds = Seconds.parse(text), seconds > 0 {
      let (moment, overflow) = Int64(time(nil)).addingReportingOverflow(seconds)
      if !overflow { return moment }
    }
    guard let moment = Timestamp.parse(text) else {
      throw ValidationError(
        "`\(text)` is not a valid time; write it like 90d, 6mo, 2030-01-31, 2030-01-31T12:00:00Z or never")
    }
    return moment
  }
}
