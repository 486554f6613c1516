/// Points in time as other programs write them.
enum SourceTime {
  /// The last second of the year 9999, in Unix seconds. A later time is no time.
  private static let last: Int64 = 253_402_300_799

  /// Reads decimal Unix time, in units of which `perSecond` make a second; nil for any other text.
  static func unix(_ text: String, perSecond: Int64 = 1) -> Int64? {
    guard perSecond > 0, text.utf8.count <= 19, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(text), number / perSecond <= last
    else { return nil }
    return number / perSecond
  }

  /// Reads a time in the form of RFC 3339, such as `2024-05-01T06:30:00.5+02:00`, and returns Unix seconds; nil for any
  /// other text. A space may replace the `T`, and a time without an offset is UTC. A fraction is cut off.
  static func iso8601(_ text: String) -> Int64? {
    var rest = text.utf8[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), take(&rest, "T") || take(&rest, " "), let hour = number(&rest, 2), take(&rest, ":"),
      let minute = number(&rest, 2), take(&rest, ":"), let second = number(&rest, 2), hour < 24, minute < 60,
      second < 60, (1...12).contains(month), (1...length(ofMonth: month, year)).contains(day)
    else { return nil }
    if take(&rest, ".") { while number(&rest, 1) != nil {} }
    guard let offset = offset(&rest), rest.isEmpty else { return nil }
    let unix = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return (0...last).contains(unix) ? unix : nil
  }

  /// The days from 1970-01-01 to a date. The calculation is `days_from_civil` of Howard Hinnant, "chrono-Compatible
  /// Low-Level Date Algorithms" (https://howardhinnant.github.io/date_algorithms.html).
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = (month <= 2 ? year - 1 : year) + 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468 - 146_097
  }

  private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Reads the seconds by which a clock is ahead of UTC; nil if there is anything else than an offset or the end.
  private static func offset(_ rest: inout Substring.UTF8View) -> Int64? {
    if rest.isEmpty || take(&rest, "Z") { return 0 }
    let isBehind = take(&rest, "-")
    guard isBehind || take(&rest, "+"), let hours = number(&rest, 2), take(&rest, ":"),
      let minutes = number(&rest, 2), hours < 24, minutes < 60
    else { return nil }
    let seconds = hours * 3_600 + minutes * 60
    return isBehind ? -seconds : seconds
  }

  private static func number(_ rest: inout Substring.UTF8View, _ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count else { return nil }
    var number: Int64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - 0x30)
    }
    rest = rest.dropFirst(count)
    return number
  }

  private static func take(_ rest: inout Substring.UTF8View, _ character: Unicode.Scalar) -> Bool {
    guard let first = rest.first, UInt32(first) == character.value else { return false }
    rest = rest.dropFirst()
    return true
  }
}
