internal import VaultModel
internal import VaultWire

extension Wire.Method {
  /// The reason why the method is not available, and the advice; nil if there is no reason.
  var obstacle: String? { reason.map { Sentence.joined($0, advice) } }
}

extension Wire.Warning {
  /// The warning and its advice in one sentence.
  var sentence: String { Sentence.joined(text, advice) }
}

enum Sentence {
  /// The cause of a state, to append to a sentence: `by password`, or a sentence in brackets.
  static func cause(_ text: String) -> String {
    let text = Printable.text(text)
    return text.hasPrefix("by ") ? " \(text)" : " (\(text))"
  }

  /// The proofs that an item requires, worded to follow the verb "requires".
  static func required(_ name: String) -> String { name == "password" ? "the password" : Printable.text(name) }

  /// A sentence with the advice appended.
  static func joined(_ text: String, _ advice: String?) -> String { Clauses.joined(text, advice) }
}
