internal import VaultModel

/// A name for an item that is made of any number of parts of any length, cut where it has no room.
///
/// A cut name contains a hash of the whole name, so that names which differ only in what was cut stay different. FNV-1a
/// suffices for that, and the client has no cryptography: names that somebody made collide are only numbered, like all
/// names that are the same.
enum ShortenedName {
  /// The room that is left for a number after the name, such as ` (2)`.
  static let reserve = 12

  /// Returns the parts of the name, cut to at most that number of bytes and parts.
  ///
  /// - Parameters:
  ///   - most: the most bytes, slashes included.
  ///   - count: the most parts, at least 3.
  static func parts(_ parts: [String], bytes most: Int, count: Int) -> [String] {
    guard let last = parts.last, size(parts) > most || parts.count > count else { return parts }
    let mark = "~" + hex(fnv1a(parts.joined(separator: "/").utf8))
    var folders = Array(parts.dropLast())
    var leaf = last
    if leaf.utf8.count > most / 2 { leaf = prefix(leaf, most / 2 - mark.utf8.count) + mark }
    if folders.count > count - 1 { folders = folders.prefix(count - 2) + [mark] }
    guard size(folders + [leaf]) > most else { return folders + [leaf] }
    var room = most - leaf.utf8.count - mark.utf8.count - 2
    var kept: [String] = []
    for folder in folders {
      room -= folder.utf8.count + 1
      guard room >= 0 else { break }
      kept.append(folder)
    }
    return kept + [mark, leaf]
  }

  /// The number of bytes of a name of these parts.
  static func size(_ parts: [String]) -> Int { parts.reduce(parts.count - 1) { $0 + $1.utf8.count } }

  /// Returns the longest beginning of a text that has at most that number of bytes and divides no character.
  static func prefix(_ text: String, _ most: Int) -> String {
    var (scalars, count) = (String.UnicodeScalarView(), 0)
    for scalar in text.unicodeScalars {
      count += UTF8.width(scalar)
      guard count <= most else { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// The hash FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
  static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  /// A number as sixteen hexadecimal digits.
  static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
