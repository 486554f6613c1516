internal import VaultModel

/// The question whether another name was meant.
enum Suggestion {
  /// The question with these names; nil if there are none.
  static func text(_ names: [String]) -> String? {
    let quoted = names.map(Printable.quoted)
    guard let last = quoted.last else { return nil }
    let others = quoted.dropLast().joined(separator: ", ")
    return "did you mean \(others.isEmpty ? "" : others + " or ")\(last)?"
  }

  /// The question with these names, or a note if one of them looks the same as the name that was typed; nil if there
  /// are no names.
  static func text(_ names: [String], insteadOf typed: String) -> String? {
    names.contains { looksLike($0, typed) }
      ? "another name looks the same, with its accents composed in another way (NFC, NFD)" : text(names)
  }

  /// Returns true for two names that look the same. Swift strings are equal in whatever way their letters are composed
  /// (Unicode Standard Annex 15); item names are compared by their bytes.
  static func looksLike(_ name: String, _ other: String) -> Bool {
    name == other && !name.utf8.elementsEqual(other.utf8)
  }

  /// The advice: the question with these names, and a pointer to the help.
  static func advice(_ names: [String], help: String) -> String {
    text(names).map { "\($0) See \(help)" } ?? "see \(help)"
  }
}
