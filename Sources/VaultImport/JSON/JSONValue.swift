internal import VaultBytes

/// A JSON value in memory, such as one entry of a large file. ``JSONReader`` limits its depth and its size.
enum JSONValue: Sendable {
  struct Member: Sendable {
    let name: String
    let value: JSONValue
  }

  /// The members in the order of the text; no two names are the same.
  case object([Member])
  case array([JSONValue])
  case string(String)
  /// A number as it was written, because it may have more digits than any type of number.
  case number(String)
  case bool(Bool)
  case null
}

extension JSONValue {
  /// The member with a name; nil if there is none, or if it is null. Names are compared byte by byte, because Swift
  /// considers different texts equal if they look the same.
  subscript(name: StaticString) -> JSONValue? {
    guard case .object(let members) = self,
      let value = members.first(where: { Array($0.name.utf8).withSpan { $0.isEqual(to: name) } })?.value
    else { return nil }
    if case .null = value { return nil }
    return value
  }

  var isObject: Bool { if case .object = self { true } else { false } }
  var isArray: Bool { if case .array = self { true } else { false } }

  /// The members of an object; empty for another value.
  var members: [Member] {
    guard case .object(let members) = self else { return [] }
    return members
  }

  /// The elements of an array; empty for another value.
  var elements: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  /// The text of a string; nil for another value.
  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The exact value of a number that is an integer and fits; nil for another value.
  var integer: Int64? {
    guard case .number(let text) = self else { return nil }
    return JSONObject.exactInteger(Array(text.utf8).span)
  }

  /// The value of true or false; nil for another value.
  var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// True if the value says nothing: null, an empty string, or an object or array of such values alone.
  var isBlank: Bool {
    switch self {
    case .null: true
    case .string(let text): text.isEmpty
    case .number, .bool: false
    case .object(let members): members.allSatisfy { $0.value.isBlank }
    case .array(let elements): elements.allSatisfy { $0.isBlank }
    }
  }

  /// The value as JSON (RFC 8259) without white space, with only the necessary escapes in strings, and with each number
  /// as it was given.
  var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.withBytes { $0.array }
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.name)
        member.value.write(to: &writer)
      }
      writer.endObject()
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .string(let text): writer.string(text)
    case .number(let text): Array(text.utf8).withSpan { writer.raw($0) }
    case .bool(let value): writer.bool(value)
    case .null: writer.null()
    }
  }
}

extension RawSpan {
  fileprivate func isEqual(to text: StaticString) -> Bool {
    byteCount == text.utf8CodeUnitCount && hasBytes(text, at: 0)
  }
}
