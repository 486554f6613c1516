/// Points in time as other programs write them in texts (ISO 8601, as ECMA-262 and .NET write it):
/// `2024-05-06T07:08:09.123Z`, also with more or no digits of the fraction, with an offset in place of the `Z`, or with
/// neither, which means UTC.
enum ISOTime {
  /// Unix seconds, without the fraction; nil for any other text.
  ///
  /// - Parameter isLax: true to take a space in place of the `T`, and a fraction without digits.
  static func seconds(_ text: String, isLax: Bool = false) -> Int64? {
    var rest = text.utf8[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), take(&rest, "T") || isLax && take(&rest, " "),
      let hour = number(&rest, 2), take(&rest, ":"),
      let minute = number(&rest, 2), take(&rest, ":"), let second = number(&rest, 2),
      (1...12).contains(month), (1...length(ofMonth: month, year)).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    if take(&rest, ".") {
      guard isLax || rest.first.map(isDigit) == true else { return nil }
      rest = rest.drop { isDigit($0) }
    }
    guard let offset = offset(&rest), rest.isEmpty else { return nil }
    return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func take(_ rest: inout Substring.UTF8View, _ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: scalar) else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads exactly `count` digits, of which there are at most four.
  private static func number(_ rest: inout Substring.UTF8View, _ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest.removeFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// Reads the offset in seconds ahead of UTC.
  private static func offset(_ rest: inout Substring.UTF8View) -> Int64? {
    if rest.isEmpty || take(&rest, "Z") { return 0 }
    let sign: Int64 = take(&rest, "+") ? 1 : take(&rest, "-") ? -1 : 0
    guard sign != 0, let hours = number(&rest, 2), take(&rest, ":"), let minutes = number(&rest, 2), hours < 24,
      minutes < 60
    else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days since 1970-01-01, by `days_from_civil` of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
  /// (https://howardhinnant.github.io/date_algorithms.html). The year is not negative.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // The year begins in March; 400 more make the year before 0 positive.
    let shifted = (month <= 2 ? year - 1 : year) + 400
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return (shifted / 400 - 1) * 146_097 + dayOfEra - 719_468
  }
}
