internal import VaultBytes

/// The reason that bytes are not the JSON object of a token. The text completes a sentence that begins with a name for
/// the bytes, and quotes nothing.
struct TokenTextFault: Error, Hashable, Sendable {
  let reason: String
}

/// The JSON of tokens: it nests less deeply than that of messages, and a member with the value null counts as present.
extension JSONObject {
  /// The maximum depth to which objects and arrays may nest, including the object itself.
  private static let tokenDepth = 8

  /// Reads the whole of `text`.
  ///
  /// - Parameter mostMembers: The highest number of members of one object in the text.
  static func read(
    _ text: RawSpan, mostMembers: Int = JSONObject.maximumMembers
  ) throws(TokenTextFault) -> JSONObject {
    let bytes = Span<UInt8>(_bytes: text)
    guard (try? UTF8Span(validating: bytes)) != nil else { throw TokenTextFault(reason: "is not UTF-8") }
    guard let start = bytes.indices.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[$0]) }),
      bytes[start] == UInt8(ascii: "{")
    else { throw TokenTextFault(reason: "is not a JSON object") }
    // The number of values is limited by the size of the text, which all callers limit.
    let limits = JSONLimits(depth: tokenDepth, values: .max, members: mostMembers)
    do throws(JSONFault) { return try JSONObject(parsing: text, within: limits) } catch {
      throw TokenTextFault(reason: reason(of: error))
    }
  }

  private static func reason(of fault: JSONFault) -> String {
    switch fault {
    case .invalidJSON(_, JSONFault.contentAfterEnd): "is followed by something"
    case .invalidJSON: "is not valid JSON"
    case .tooDeep: "nests deeper than \(tokenDepth)"
    case .tooManyMembers(let limit): "has an object with more than \(limit) members"
    case .duplicateKey: "has a name twice in an object"
    case .notAnObject: "is not a JSON object"
    case .tooLong, .tooManyValues: "is too long"
    }
  }

  /// The value of the member `name` of `object`, which may be null; nil if there is none.
  borrowing func value(_ name: StaticString, of object: Node) -> Node? { find(name, in: object)?.value }

  /// The value of the member `name` of the object itself.
  borrowing func value(_ name: StaticString) -> Node? { value(name, of: root) }

  /// The text of the member `name` of `object`; nil if there is none, or if it is of another kind.
  borrowing func string(of name: StaticString, in object: Node) -> String? {
    value(name, of: object).flatMap { string($0) }
  }

  /// The text of a number as it was given; nil for another kind.
  borrowing func number(_ node: Node) -> [UInt8]? { kind(node) == .number ? withWord(node) { $0.array } : nil }

  /// The object as JSON text without white space, with only the necessary escapes, and with each number as it was
  /// given.
  var spelled: [UInt8] {
    borrowing get {
      var writer = JSONWriter(capacity: byteCount)
      writer.value(root, of: self)
      return writer.take().withBytes { $0.array }
    }
  }
}
