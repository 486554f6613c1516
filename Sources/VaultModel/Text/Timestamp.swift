/// Points in time as text, in the proleptic Gregorian calendar and UTC.
///
/// The calendar arithmetic is from Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
/// (https://howardhinnant.github.io/date_algorithms.html). The form is that of RFC 3339.
public enum Timestamp {
  /// The last second that ``parse(_:)`` can return: 9999-12-31T23:59:59Z, in Unix seconds.
  public static let last: Int64 = 253_402_300_799

  /// Writes Unix seconds as `2027-01-01T00:00:00Z`.
  public static func format(_ unix: Int64) -> String {
    let second = floorRemainder(unix, 86_400)
    let date = civil(fromDays: floorQuotient(unix, 86_400))
    let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(time)Z"
  }

  /// Reads `2027-01-01` (its first second) or a full RFC 3339 time such as `2027-01-01T06:30:00.5+02:00`, also with a
  /// space in place of the T, as section 5.6 allows and terminals show it.
  ///
  /// A fraction is cut off. Leap seconds are refused, because Unix time has none.
  /// - Returns: Unix seconds from 1970 to 9999, or `nil` for any other text.
  public static func parse(_ text: String) -> Int64? {
    var scanner = Scanner(text)
    guard let year = scanner.number(4), scanner.take("-"), let month = scanner.number(2), scanner.take("-"),
      let day = scanner.number(2)
    else { return nil }
    if scanner.isAtEnd { return unix(year: year, month: month, day: day) }
    guard scanner.take("T") || scanner.take("t") || scanner.take(" "),
      let hour = scanner.number(2), scanner.take(":"), let minute = scanner.number(2), scanner.take(":"),
      let second = scanner.number(2), scanner.skipFraction(), let offset = scanner.offset(), scanner.isAtEnd
    else { return nil }
    return unix(year: year, month: month, day: day, hour: hour, minute: minute, second: second, offset: offset)
  }

  /// Unix seconds of a date and a time of day, or `nil` if these are not valid.
  ///
  /// - Parameter offset: The number of seconds by which the clock of these numbers is ahead of UTC.
  static func unix(
    year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0, offset: Int64 = 0
  ) -> Int64? {
    guard (0...9999).contains(year), (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year: year),
      (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
    else { return nil }
    let unix = days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return (0...last).contains(unix) ? unix : nil
  }

  /// The days since 1970-01-01 (`days_from_civil`).
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let yearOfEra = floorRemainder(shifted, 400)
    let era = floorQuotient(shifted, 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date `days` days after 1970-01-01 (`civil_from_days`).
  static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let dayOfEra = floorRemainder(shifted, 146_097)
    let era = floorQuotient(shifted, 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func floorQuotient(_ value: Int64, _ divisor: Int64) -> Int64 {
    value / divisor - (value % divisor < 0 ? 1 : 0)
  }

  private static func floorRemainder(_ value: Int64, _ divisor: Int64) -> Int64 {
    let remainder = value % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number.magnitude)
    return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// A walk over the characters of a time.
private struct Scanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: byte) else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads exactly `count` digits.
  mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest.removeFirst(count)
    return Int64(Substring(digits))
  }

  /// Skips nothing, or a dot and at least one digit.
  mutating func skipFraction() -> Bool {
    guard take(".") else { return true }
    guard let first = rest.first, isDigit(first) else { return false }
    rest = rest.drop(while: isDigit)
    return true
  }

  /// Reads `Z` or `+hh:mm`, as seconds ahead of UTC.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64 = take("+") ? 1 : take("-") ? -1 : 0
    guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours <= 23, minutes <= 59 else {
      return nil
    }
    return sign * (hours * 3_600 + minutes * 60)
  }
}
