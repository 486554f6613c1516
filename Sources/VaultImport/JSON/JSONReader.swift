internal import VaultBytes
internal import VaultWire

/// A reader of one JSON text (RFC 8259) that goes through it value by value, so that a file of hundreds of megabytes
/// never becomes a tree as a whole.
///
/// The caller descends with ``object(_:)`` and ``array(_:)``, takes small values with ``value(within:)`` and passes
/// over others with ``skip()``. The reader is a value: a copy of it is a place in the text, to which the caller can
/// return.
///
/// The reader is stricter than the RFC where that leaves a choice: UTF-8 must be well formed, a `\u` escape must not be
/// half of a surrogate pair, and no object has a key twice. A byte order mark at the start is passed over, as section
/// 8.1 allows.
struct JSONReader {
  /// The maximum depth to which objects and arrays may nest.
  static let maximumDepth = 128
  /// The highest number of keys of all objects in which the reader is at one time, and the longest key in bytes.
  static let mostKeys = (count: 1 << 20, bytes: 64 << 10)

  /// A string in the text, or a key.
  struct Text: Hashable, Sendable {
    /// The place of the string without its quotes.
    let range: Range<Int>
    /// The number of UTF-8 bytes after the escapes are decoded.
    let count: Int

    /// True if the string contains an escape, which is always longer than its meaning.
    var isEscaped: Bool { count < range.count }
  }

  enum Token: Hashable, Sendable {
    case beginObject, endObject, beginArray, endArray
    case key(Text)
    case string(Text)
    case number(Range<Int>)
    case bool(Bool)
    case null
    /// The end of the text.
    case end
  }

  /// An object or an array in which the reader is.
  struct Container: Sendable {
    let isObject: Bool
    /// The number of keys of the containers around it.
    let firstKey: Int

    var bracket: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
  }

  /// The part of the grammar that must come next.
  enum Expected: Sendable { case value, firstOrEnd, separatorOrEnd }

  let bytes: [UInt8]
  var at = 0
  var expected = Expected.value
  var containers: [Container] = []
  var keys = JSONKeys()

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { at = 3 }
  }

  /// The number of bytes that were read.
  var offset: Int { at }

  /// Reads an object: calls `body` with each key. The reader that `body` gets stands before the value; if `body` leaves
  /// it there, the value is passed over.
  mutating func object(
    _ body: (_ key: String, inout JSONReader) throws(ImportFailure) -> Void
  ) throws(ImportFailure) {
    guard case .beginObject = try next() else { throw damaged("no object where one belongs") }
    while case .key(let key) = try next() {
      let place = at
      try body(string(key), &self)
      if at == place { try skip() }
    }
  }

  /// Reads an array: calls `body` before each element, as ``object(_:)`` does.
  mutating func array(_ body: (inout JSONReader) throws(ImportFailure) -> Void) throws(ImportFailure) {
    guard case .beginArray = try next() else { throw damaged("no array where one belongs") }
    while try continues() {
      let place = at
      try body(&self)
      if at == place { try skip() }
    }
  }

  /// Passes over the next value. It is checked like any other.
  mutating func skip() throws(ImportFailure) {
    let depth = containers.count
    repeat { _ = try next() } while containers.count > depth
  }

  /// Reads a string; nil for another value, which is passed over.
  mutating func text() throws(ImportFailure) -> Text? {
    let depth = containers.count
    let token = try next()
    while containers.count > depth { _ = try next() }
    guard case .string(let text) = token else { return nil }
    return text
  }

  /// Checks that nothing follows the value.
  mutating func finish() throws(ImportFailure) {
    guard case .end = try next() else { throw damaged("content after the end") }
  }
}
