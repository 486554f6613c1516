internal import VaultBytes

/// The times of KDBX files.
enum KDBXTime {
  /// The number of seconds between the year 1 and the year 1970.
  static let epoch: Int64 = 62_135_596_800

  /// Reads a time: in KDBX 4 base64 of the seconds since the year 1 (KeePass: KdbxFile.Write.cs), before that a text
  /// like `2020-02-29T12:00:00Z` (RFC 3339). Nil for anything else.
  static func seconds(_ text: String) -> Int64? {
    if let bytes = [UInt8](base64: text), bytes.count == 8 {
      let (seconds, isBeyond) = Int64(bitPattern: bytes.littleEndian).subtractingReportingOverflow(epoch)
      return isBeyond ? nil : seconds
    }
    return written(Array(text.utf8))
  }

  private static func written(_ text: [UInt8]) -> Int64? {
    guard text.count >= 19, text[4] == 0x2D, text[7] == 0x2D, text[10] == 0x54, text[13] == 0x3A, text[16] == 0x3A,
      let year = number(text[..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
      let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60,
      let offset = offset(text[19...])
    else { return nil }
    return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
  }

  /// The offset from universal time in seconds, behind an optional fraction of a second.
  private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
    var rest = text
    if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (0x30...0x39).contains($0) } }
    if rest.isEmpty || rest.elementsEqual("Z".utf8) { return 0 }
    guard rest.count == 6, let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
      let hours = number(rest.dropFirst().prefix(2)), let minutes = number(rest.suffix(2))
    else { return nil }
    return (sign == UInt8(ascii: "+") ? 1 : -1) * (hours * 3600 + minutes * 60)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var number: Int64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - 0x30)
    }
    return number
  }

  /// The days from 1970 to a day of the Gregorian calendar: years begin in March here, so that the leap day is last.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let leaps = floor(year, 4) - floor(year, 100) + floor(year, 400)
    return year * 365 + leaps + dayOfYear - 719_468
  }

  private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : (number - divisor + 1) / divisor
  }
}
