/// OpenSSH's patterns for users and hosts: `*` stands for any bytes, `?` for one byte.
enum Wildcard {
  /// True if `pattern` matches the whole of `text`. The time grows at most with the product of their lengths.
  static func matches(_ text: [UInt8], pattern: [UInt8]) -> Bool {
    var (at, place) = (0, 0)
    // The place after the last star, and the place in the text at which the rest was last tried.
    var retry: (place: Int, at: Int)?
    while at < text.count {
      if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
        place += 1
        retry = (place, at)
      } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == text[at] {
        place += 1
        at += 1
      } else if let last = retry {
        retry = (last.place, last.at + 1)
        (place, at) = (last.place, last.at + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
