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
    guard let unix = ISOTime.seconds(text, isLax: true), (0...last).contains(unix) else { return nil }
    return unix
  }
}
