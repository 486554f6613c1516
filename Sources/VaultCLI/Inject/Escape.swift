internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A form in which a value is inserted into a text without breaking its syntax. Each form is complete: quotes are part
/// of it.
enum Escape: String, CaseIterable {
  /// A JSON string (RFC 8259).
  case json
  /// A word of sh(1).
  case shell
  /// Base64 with padding (RFC 4648).
  case base64
  /// A double-quoted scalar (YAML 1.2, section 7.3.1).
  case yaml

  /// The names of all forms, in words.
  static let names = "\(allCases.dropLast().map(\.rawValue).joined(separator: ", ")) and \(yaml.rawValue)"

  /// The reason why a value cannot be written in a form. The reason quotes nothing of the value.
  struct Fault: Error, Equatable {
    let reason: String
  }

  /// Appends the form of `value` to `text`.
  func append(_ value: RawSpan, to text: inout SecretBuffer) throws(Fault) {
    switch self {
    case .json:
      guard UTF8Text.isValid(value) else { throw Fault(reason: "it is not UTF-8, so it has no form in JSON") }
      var writer = JSONWriter(appendingTo: text)
      writer.secret(value)
      text = writer.take()
    case .shell:
      if Span<UInt8>(_bytes: value).contains(0) {
        throw Fault(reason: "it has a NUL byte, which no shell word can hold")
      }
      ShellWord.append(value, to: &text)
    case .base64:
      text.append(count: Base64.encodedCount(value.byteCount)) { Base64.encode(value, into: &$0) }
    case .yaml:
      guard UTF8Text.isValid(value) else { throw Fault(reason: "it is not UTF-8, so it has no form in YAML") }
      YAMLScalar.append(value, to: &text)
    }
  }
}
