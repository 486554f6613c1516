internal import VaultModel

/// A notice of problems that a person must solve, short enough for the daemon to keep it whole. A path that is too long
/// loses its middle, and still ends with its name.
struct NoticeText {
  /// The most characters that the daemon keeps of a notice, and of a receipt's text about a version.
  static let (most, mostOfVersion) = (1000, 120)
  /// The smallest number of characters that remain of a path.
  private static let least = 40

  private var clauses: [(before: String, path: String, after: String)] = []

  /// Adds a clause that contains a path.
  mutating func add(_ before: String = "", _ path: String, _ after: String = "") {
    clauses.append((before, Printable.line(path), after))
  }

  /// Returns all clauses in one text; nil if there are none.
  func text(most: Int = NoticeText.most) -> String? {
    guard !clauses.isEmpty else { return nil }
    let words = clauses.reduce(0) { $0 + $1.before.count + $1.after.count + 2 }
    let room = max(Self.least, (most - words) / clauses.count)
    return clauses.map { $0.before + Self.path($0.path, within: room) + $0.after }.joined(separator: "; ")
  }

  private static func path(_ path: String, within room: Int) -> String {
    let characters = path.unicodeScalars
    guard characters.count > room else { return path }
    // The end holds the file's name.
    let start = room / 3
    return String(String.UnicodeScalarView(characters.prefix(start))) + "…"
      + String(String.UnicodeScalarView(characters.suffix(room - start - 1)))
  }
}
