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
  /// A sentence with the advice behind it.
  static func joined(_ text: String, _ advice: String?) -> String { advice.map { "\(text); \($0)" } ?? text }
}
