/// The reason that bytes are not a JSON object as ``JSONObject`` reads it. It contains no part of the bytes, so it can
/// be logged.
public enum JSONFault: Error, Hashable, Sendable {
  /// The text is longer than `limit` bytes, without the NUL of a message.
  case tooLong(limit: Int)
  /// The text is not JSON by RFC 8259; the fault is `offset` bytes into it.
  case invalidJSON(offset: Int, reason: String)
  /// Objects and arrays nest deeper than ``JSONLimits/depth``.
  case tooDeep
  /// The text holds more than ``JSONLimits/values`` keys and values.
  case tooManyValues(limit: Int)
  /// An object has more than ``JSONLimits/members`` members.
  case tooManyMembers(limit: Int)
  /// An object has the same key twice. RFC 8259, section 4, leaves the meaning open, so such an object is refused.
  case duplicateKey
  /// The text is valid JSON, but not an object.
  case notAnObject

  /// The reason in ``invalidJSON(offset:reason:)`` when only white space may follow and something else does.
  package static let contentAfterEnd = "content after the end"
}

extension JSONFault {
  /// True if the text is not JSON at all.
  package var isOfSyntax: Bool {
    switch self {
    case .invalidJSON: true
    case .tooLong, .tooDeep, .tooManyValues, .tooManyMembers, .duplicateKey, .notAnObject: false
    }
  }

  /// The reason in words, to follow a statement of the expected form.
  public var reason: String {
    switch self {
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .invalidJSON(let offset, let reason): "\(reason) at byte \(offset)"
    case .tooDeep: "it is nested too deeply"
    case .tooManyValues(let limit): "it has more than \(limit) values"
    case .tooManyMembers(let limit): "an object in it has more than \(limit) members"
    case .duplicateKey: "it has the same key twice"
    case .notAnObject: "it is not a JSON object"
    }
  }
}
