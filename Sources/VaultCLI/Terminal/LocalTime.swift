internal import Glibc
internal import VaultModel

/// Points in time as text for whoever reads it: on a terminal in local time, elsewhere in UTC, so that a script gets the
/// same text everywhere. JSON has Unix seconds.
enum LocalTime {
  /// Unix seconds as `2027-01-01 01:00:00+01:00` on a terminal, and as `2027-01-01T00:00:00Z` elsewhere.
  ///
  /// - Parameter descriptor: the standard stream that the text goes to.
  static func text(_ unix: Int64, to descriptor: Int32 = STDOUT_FILENO) -> String {
    isatty(descriptor) == 1 ? local(unix) : Timestamp.format(unix)
  }

  /// The date alone.
  static func day(_ unix: Int64) -> String { String(text(unix).prefix { $0 != " " && $0 != "T" }) }

  /// The time as the zone of `$TZ`, else of /etc/localtime, has it (tzset(3)), in the form of `date --rfc-3339=seconds`.
  static func local(_ unix: Int64) -> String {
    tzset()
    var time = time_t(unix)
    // It holds a pointer to the zone's name, which is not used.
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil, unsafe parts.tm_year < 8100 else { return Timestamp.format(unix) }
    let offset = unsafe parts.tm_gmtoff
    // The clock's reading, as if it were UTC, is a date and a time of day in the form that is wanted.
    let reading = String(Timestamp.format(unix + Int64(offset)).dropLast().map { $0 == "T" ? " " : $0 })
    let minutes = abs(offset) / 60
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(reading)\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
  }
}
