internal import VaultWire

// The parts of an entry that JSON describes.
extension Entry {
  /// The media type of JSON (RFC 8259, section 11).
  static let jsonType = "application/json"

  /// Adds a whole value as a document, unless it says nothing.
  mutating func addDocument(_ name: String, _ value: JSONValue) {
    guard !value.isBlank else { return }
    fields.append(Field(name, .document, value.json, mediaType: Self.jsonType))
  }

  /// Adds a value whose meaning the reader does not know, unless it says nothing. A text may be a secret.
  mutating func addUnknown(_ name: String, _ value: JSONValue) {
    switch value {
    case .null: break
    case .bool(let flag): add(name, .setting, flag ? "true" : "false")
    case .number(let text): add(name, .setting, text)
    case .string(let text): addUnlessEmpty(name, .secret, text)
    case .object, .array: addDocument(name, value)
    }
  }
}
