internal import VaultModel

/// The filter for this program's own text that contains foreign text. ``Output`` and ``Keyboard`` pass everything that
/// they show through it.
extension Printable {
  /// A name in the output of a command: on a terminal as a person compares names, elsewhere as a program reads them.
  static func listed(_ name: String) -> String { Output.isTerminal ? whole(name) : field(name) }

  /// Makes text safe for a terminal; newlines and ``Style`` stay.
  ///
  /// Of the escape characters, only those that begin a sequence of ``Style`` stay. Foreign text may hold such a
  /// sequence, too, so it must go through ``Printable/text(_:)`` or ``Printable/line(_:)`` before it is combined with
  /// this program's text.
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
