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

  /// The advice: the question with these names, and a pointer to the help.
  static func advice(_ names: [String], help: String) -> String {
    text(names).map { "\($0) See \(help)" } ?? "see \(help)"
  }
}
