internal import VaultBytes
internal import VaultWire

extension JSONReader {
  /// The most that ``JSONReader/value(within:)`` takes into memory.
  struct Room: Sendable {
    /// The number of values and keys.
    var values = 1 << 18
    /// The number of bytes of all strings, keys and numbers.
    var bytes = 64 << 20
  }

  /// The text of a string with its escapes decoded.
  func string(_ text: Text) -> String {
    text.isEscaped
      ? String(decoding: text.decoded(in: bytes), as: UTF8.self) : String(decoding: bytes[text.range], as: UTF8.self)
  }

  /// Reads the next value with all that it contains.
  ///
  /// - Throws: ``ImportFailure`` also if the value needs more than `room`.
  mutating func value(within room: Room = Room()) throws(ImportFailure) -> JSONValue {
    let start = at
    var left = room
    var parts: [Part] = []
    while true {
      let token = try next()
      guard take(token, &left) else {
        throw ImportFailure(.tooLarge, "a value in the JSON is too large, at byte \(start)")
      }
      let value: JSONValue
      switch token {
      case .beginObject, .beginArray:
        parts.append(Part())
        continue
      case .key(let key):
        parts[parts.count - 1].name = string(key)
        continue
      case .endObject: value = .object(parts.removeLast().members)
      case .endArray: value = .array(parts.removeLast().elements)
      case .string(let text): value = .string(string(text))
      case .number(let range): value = .number(String(decoding: bytes[range], as: UTF8.self))
      case .bool(let bool): value = .bool(bool)
      case .null: value = .null
      case .end: throw damaged("no value")
      }
      guard !parts.isEmpty else { return value }
      parts[parts.count - 1].append(value)
    }
  }

  /// An object or an array while it is read.
  private struct Part {
    /// The key of the next value; nil in an array.
    var name: String?
    var members: [JSONValue.Member] = []
    var elements: [JSONValue] = []

    mutating func append(_ value: JSONValue) {
      guard let name else { return elements.append(value) }
      members.append(JSONValue.Member(name: name, value: value))
    }
  }

  /// Subtracts a token from the room that is left; false if there is too little.
  private func take(_ token: Token, _ room: inout Room) -> Bool {
    room.values -= 1
    switch token {
    case .key(let text), .string(let text): room.bytes -= text.count
    case .number(let range): room.bytes -= range.count
    case .beginObject, .endObject, .beginArray, .endArray, .bool, .null, .end: break
    }
    return room.values >= 0 && room.bytes >= 0
  }
}

extension JSONReader.Text {
  /// The UTF-8 bytes of the string with its escapes decoded.
  ///
  /// - Parameter bytes: The text that was read.
  func decoded(in bytes: [UInt8]) -> [UInt8] {
    guard isEscaped else { return Array(bytes[range]) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(count)
    var walk = JSONUnescaping(range)
    while let byte = walk.next(bytes.span) { decoded.append(byte) }
    return decoded
  }
}
