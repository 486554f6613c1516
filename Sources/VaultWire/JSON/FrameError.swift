/// The reason why bytes are not a frame. It carries no part of them, so it can be logged.
public enum FrameError: Error, Hashable, Sendable {
  /// The frame is longer than `limit` bytes, its NUL not counted.
  case tooLong(limit: Int)
  /// Not JSON as RFC 8259 defines it, found `offset` bytes into the frame.
  case invalidJSON(offset: Int, reason: String)
  /// Objects and arrays nest deeper than ``Frame/maximumDepth``.
  case tooDeep
  /// The frame holds more than ``Frame/maximumValues`` keys and values.
  case tooManyValues(limit: Int)
  /// An object has more than ``Frame/maximumMembers`` members.
  case tooManyMembers(limit: Int)
  /// An object has the same key twice. RFC 8259, section 4 leaves the meaning open, so there is none.
  case duplicateKey
  /// Valid JSON, but a message is always an object.
  case notAnObject
}
