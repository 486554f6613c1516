internal import VaultModel

/// Text of this program's own with text from elsewhere in it. ``Output`` and ``Keyboard`` pass through here whatever they
/// show.
extension Printable {
  /// Newlines and ``Style`` stay.
  ///
  /// Of the escape characters only those that begin a sequence of ``Style`` stay. What came from elsewhere may hold such a
  /// sequence, too, so it goes through ``Printable/text(_:)`` or ``Printable/line(_:)`` before it is put beside our own.
  static func screen(_ text: String) -> String {
    if isPlain(text) { return text }
    var result = ""
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.first {
      if scalar == Style.escape, let sequence = Style.sequences.first(where: { rest.starts(with: $0) }) {
        result.unicodeScalars.append(contentsOf: sequence)
        rest = rest.dropFirst(sequence.count)
        continue
      }
      result += scalar == "\n" ? "\n" : spelled(scalar)
      rest.removeFirst()
    }
    return result
  }
}
