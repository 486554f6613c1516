internal import Glibc
internal import VaultModel

/// Points in time as text: on a terminal in local time, elsewhere in UTC, so that a script gets the same text
/// everywhere. JSON has Unix seconds.
enum LocalTime {
  /// Formats Unix seconds as `2027-01-01 01:00:00+01:00` on a terminal, and as `2027-01-01T00:00:00Z` elsewhere.
  ///
  /// - Parameter descriptor: the standard stream for the text.
  static func text(_ unix: Int64, to descriptor: Int32 = STDOUT_FILENO) -> String {
    isatty(descriptor) == 1 ? local(unix) : Timestamp.format(unix)
  }

  /// Returns the date alone.
  static func day(_ unix: Int64) -> String { String(text(unix).prefix { $0 != " " && $0 != "T" }) }

  /// Returns the time in the zone of `$TZ` or else of /etc/localtime (tzset(3)), in the form of `date
  /// --rfc-3339=seconds`.
  static func local(_ unix: Int64) -> String {
    tzset()
    var time = time_t(unix)
    // The structure holds a pointer to the zone's name, which is not used.
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil, unsafe parts.tm_year < 8100 else { return Timestamp.format(unix) }
    let offset = unsafe parts.tm_gmtoff
    // The local clock's reading, formatted as if it were UTC, gives the date and the time of day.
    let reading = String(Timestamp.format(unix + Int64(offset)).dropLast().map { $0 == "T" ? " " : $0 })
    let minutes = abs(offset) / 60
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(reading)\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
  }
}
