internal import VaultModel

/// Text of this program's own with text from elsewhere in it. ``Output`` and ``Keyboard`` pass through here whatever they
/// show.
extension Printable {
  /// Newlines and ``Style`` stay.
  static func screen(_ text: String) -> String { escape(text, keepingNewlines: true) }

  /// A cell of a table: ``Style`` stays.
  static func cell(_ text: String) -> String { escape(text, keepingNewlines: false) }

  /// Of the escape characters only those that begin a sequence of ``Style`` stay.
  private static func escape(_ text: String, keepingNewlines: Bool) -> String {
    if isPlain(text) { return text }
    var result = ""
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.first {
      if scalar == Style.escape, let sequence = Style.sequences.first(where: { rest.starts(with: $0) }) {
        result.unicodeScalars.append(contentsOf: sequence)
        rest = rest.dropFirst(sequence.count)
        continue
      }
      result += scalar == "\n" && keepingNewlines ? "\n" : spelled(scalar)
      rest.removeFirst()
    }
    return result
  }
}
