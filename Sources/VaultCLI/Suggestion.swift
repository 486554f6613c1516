internal import VaultModel

/// The question whether another name was meant.
enum Suggestion {
  /// The names in a question; nil when there are none.
  static func text(_ names: [String]) -> String? {
    let quoted = names.map(Printable.quoted)
    guard let last = quoted.last else { return nil }
    let others = quoted.dropLast().joined(separator: ", ")
    return "did you mean \(others.isEmpty ? "" : others + " or ")\(last)?"
  }

  /// Advice that asks for the names, and says where the help is.
  static func advice(_ names: [String], help: String) -> String {
    text(names).map { "\($0) See \(help)" } ?? "see \(help)"
  }
}
