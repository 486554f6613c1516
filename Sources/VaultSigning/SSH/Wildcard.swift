/// Patterns as OpenSSH has them for users and hosts: `*` stands for any bytes, `?` for one.
enum Wildcard {
  /// True when `pattern` covers the whole of `text`. The time it takes grows with the product of their lengths at most.
  static func matches(_ text: [UInt8], pattern: [UInt8]) -> Bool {
    var (at, place) = (0, 0)
    // What follows the last star, and where in the text it was tried last.
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
