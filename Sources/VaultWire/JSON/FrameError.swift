/// The reason that bytes are not a frame. It contains no part of the bytes, so it can be logged.
public enum FrameError: Error, Hashable, Sendable {
  /// The frame is longer than `limit` bytes, without its NUL.
  case tooLong(limit: Int)
  /// The text is not JSON by RFC 8259; the fault is `offset` bytes into the frame.
  case invalidJSON(offset: Int, reason: String)
  /// Objects and arrays nest deeper than ``Frame/maximumDepth``.
  case tooDeep
  /// The frame holds more than ``Frame/maximumValues`` keys and values.
  case tooManyValues(limit: Int)
  /// An object has more than ``Frame/maximumMembers`` members.
  case tooManyMembers(limit: Int)
  /// An object has the same key twice. RFC 8259, section 4, leaves the meaning open, so such an object is refused.
  case duplicateKey
  /// The text is valid JSON, but not an object, as a message must be.
  case notAnObject
}
