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
  /// A sentence with the advice appended.
  static func joined(_ text: String, _ advice: String?) -> String { Clauses.joined(text, advice) }
}
