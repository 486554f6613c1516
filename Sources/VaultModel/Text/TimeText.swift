/// A duration or a time as people write it in commands and queries, with one grammar for all of them.
///
/// A duration is a number and one unit (``Seconds``), such as `90s` or `30d`. A time is a date with or without a time
/// of day (``Timestamp``), or `@` and Unix seconds, as in date(1) and systemd.time(7). A number alone is refused,
/// because some people would mean seconds and others a Unix time.
public enum TimeText: Hashable, Sendable {
  /// A duration in seconds, 0 or more.
  case duration(Int64)
  /// A time in Unix seconds, from 1970 to 9999.
  case time(Int64)

  /// The advice that lists the forms of a duration.
  public static let durations = "write a duration such as 90s, 15m, 12h, 30d, 6mo or 1y"
  /// The reason that a duration of 0 is refused.
  private static let zero = "a duration of 0 is not allowed: give a second or more"
  /// The advice that lists the forms of a duration and of a time.
  public static let forms =
    "write a duration such as 12h or 30d, a date such as 2030-01-31, or a Unix time such as @1893456000"

  /// Reads a duration or a time.
  ///
  /// - Throws: ``ValueError`` that lists the valid forms.
  public init(parsing text: String) throws(ValueError) {
    if Self.isNumber(text) {
      throw ValueError(reason: "a number alone may be a duration or a Unix time: write 30d or @1893456000")
    }
    if text.utf8.first == UInt8(ascii: "@"), let time = Self.unix(text.dropFirst()) {
      self = .time(time)
    } else if let time = Timestamp.parse(text) {
      self = .time(time)
    } else if let seconds = Seconds.parse(text) {
      self = .duration(seconds)
    } else if let reason = Self.slip(text) {
      throw ValueError(reason: reason)
    } else if Timestamp.parse(String(text.prefix(Self.dateCount))) != nil {
      if Self.isWhole(text) {
        throw ValueError(reason: "there is no such time of day; hours go from 00 to 23, minutes and seconds to 59")
      }
      throw ValueError(
        reason: "a time of day needs its seconds and its zone: write 2030-01-31T11:30:00Z or 2030-01-31T11:30:00+01:00")
    } else if Self.isMissingDay(text) {
      throw ValueError(reason: "there is no such day; write a date such as 2030-01-31")
    } else {
      throw ValueError(reason: Self.forms)
    }
  }

  /// True for a text that begins with the digits of a date from 1970 on that no calendar has, such as 2027-02-30.
  private static func isMissingDay(_ text: String) -> Bool {
    let (date, rest) = (text.utf8.prefix(dateCount), text.utf8.dropFirst(dateCount))
    guard date.count == dateCount, rest.first.map({ "Tt ".utf8.contains($0) }) ?? true,
      zip(date, "2030-01-31".utf8).allSatisfy({ $1 == UInt8(ascii: "-") ? $0 == $1 : isDigit($0) }),
      let year = Int(Substring(date.prefix(4))), year >= 1970
    else { return false }
    return Timestamp.parse(String(Substring(date))) == nil
  }

  private static let dateCount = "2030-01-31".count

  /// Reads a duration, in seconds, at least one.
  public static func duration(_ text: String) throws(ValueError) -> Int64 {
    if isNumber(text) { throw ValueError(reason: "a number alone has no unit: write 90s, 15m, 12h or 30d") }
    guard let seconds = Seconds.parse(text) else { throw ValueError(reason: slip(text) ?? durations) }
    guard seconds > 0 else { throw ValueError(reason: zero) }
    return seconds
  }

  /// The reason that a text is no duration although it looks like one: a unit in capitals, several units, or a month in
  /// words.
  private static func slip(_ text: String) -> String? {
    let word = text.utf8.drop(while: isDigit).drop { $0 == UInt8(ascii: " ") }
    if word.count < text.utf8.count, ["month", "months"].contains(String(Substring(word)).lowercased()) {
      return "months are written mo, as in 6mo"
    }
    var (rest, parts, hasCapital) = (text.utf8[...], 0, false)
    while !rest.isEmpty {
      let digits = rest.prefix(while: isDigit)
      let unit = rest.dropFirst(digits.count).prefix { !isDigit($0) }
      let small = String(Substring(unit)).lowercased()
      guard !digits.isEmpty, !unit.isEmpty, Seconds.parse("1\(small)") != nil else { return nil }
      hasCapital = hasCapital || !small.utf8.elementsEqual(unit)
      parts += 1
      rest = rest.dropFirst(digits.count + unit.count)
    }
    if parts > 1 { return "a duration is one number with one unit: write 90m for an hour and a half" }
    return hasCapital ? "units are small letters, as in 90s, 15m, 12h, 30d, 6mo or 1y" : nil
  }

  /// True for a text with the digits of a date and a time of day, and a zone.
  private static func isWhole(_ text: String) -> Bool {
    let zone = text.utf8.dropFirst("2030-01-31T11:30:00".utf8.count).first
    let time = text.utf8.dropFirst(dateCount + 1).prefix("11:30:00".utf8.count)
    return zone.map { ".Zz+-".utf8.contains($0) } == true
      && zip(time, "00:00:00".utf8).allSatisfy { $1 == UInt8(ascii: ":") ? $0 == $1 : isDigit($0) }
  }

  /// Reads a time, or a duration from `now` on. Both are Unix seconds.
  public static func ahead(_ text: String, of now: Int64) throws(ValueError) -> Int64 {
    switch try TimeText(parsing: text) {
    case .time(let time): return time
    case .duration(0): throw ValueError(reason: zero)
    case .duration(let seconds):
      let time = Seconds.after(seconds, now)
      guard time <= Timestamp.last else { throw ValueError(reason: "that is after the year 9999") }
      return time
    }
  }

  /// Reads a time, or a duration before `now`. Both are Unix seconds.
  public static func back(_ text: String, from now: Int64) throws(ValueError) -> Int64 {
    switch try TimeText(parsing: text) {
    case .time(let time): return time
    case .duration(0): throw ValueError(reason: zero)
    case .duration(let seconds): return Seconds.from(seconds, to: now)
    }
  }

  private static func isNumber(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }

  private static func unix(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy(isDigit), let time = Int64(digits), time <= Timestamp.last else {
      return nil
    }
    return time
  }
}
