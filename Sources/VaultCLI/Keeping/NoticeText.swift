internal import VaultModel

/// A notice of what a person is to see to, short enough that the daemon keeps it whole: a path that is too long loses its
/// middle, and still ends in its name.
struct NoticeText {
  /// The most characters that the daemon keeps of a notice, and of what is said of a version.
  static let (most, mostOfVersion) = (1000, 120)
  /// The characters of a path that it has in any case.
  private static let least = 40

  private var clauses: [(before: String, path: String, after: String)] = []

  /// Adds a clause in which a path stands.
  mutating func add(_ before: String = "", _ path: String, _ after: String = "") {
    clauses.append((before, Printable.line(path), after))
  }

  /// All clauses; nil where there are none.
  func text(most: Int = NoticeText.most) -> String? {
    guard !clauses.isEmpty else { return nil }
    let words = clauses.reduce(0) { $0 + $1.before.count + $1.after.count + 2 }
    let room = max(Self.least, (most - words) / clauses.count)
    return clauses.map { $0.before + Self.path($0.path, within: room) + $0.after }.joined(separator: "; ")
  }

  private static func path(_ path: String, within room: Int) -> String {
    let characters = path.unicodeScalars
    guard characters.count > room else { return path }
    // The end has the name.
    let start = room / 3
    return String(String.UnicodeScalarView(characters.prefix(start))) + "…"
      + String(String.UnicodeScalarView(characters.suffix(room - start - 1)))
  }
}
