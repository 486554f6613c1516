internal import VaultModel
internal import VaultWire

extension Wire.Method {
  /// The reason why it is not available, and what to do about it.
  var obstacle: String? { reason.map { Sentence.joined($0, advice) } }
}

extension Wire.Warning {
  /// The warning and its consequence in one sentence.
  var sentence: String { Sentence.joined(text, advice) }
}

enum Sentence {
  /// The cause of a state, to stand behind it: `by password`, or a sentence in brackets.
  static func cause(_ text: String) -> String {
    let text = Printable.text(text)
    return text.hasPrefix("by ") ? " \(text)" : " (\(text))"
  }

  /// The proofs that an item requires, to stand behind that word.
  static func required(_ name: String) -> String { name == "password" ? "the password" : Printable.text(name) }

  /// A sentence with the advice behind it.
  static func joined(_ text: String, _ advice: String?) -> String { Clauses.joined(text, advice) }
}
