extension JSONWriter {
  /// Writes a value of an object without white space, with only the necessary escapes in strings, and with each number
  /// as it was given. Not for secrets, because the names of members become texts.
  package mutating func value(_ node: JSONObject.Node, of object: borrowing JSONObject) {
    switch object.kind(node) {
    case .object:
      beginObject()
      for (name, member) in object.members(of: node) {
        key(name)
        value(member, of: object)
      }
      endObject()
    case .array:
      beginArray()
      for element in object.elements(of: node) { value(element, of: object) }
      endArray()
    case .string: object.secret(node)?.withBytes { secret($0) }
    case .number, .bool, .null: object.withWord(node) { raw($0) }
    }
  }
}
