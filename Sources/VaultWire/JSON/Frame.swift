/// One message: a strictly parsed JSON object that owns its bytes and wipes them at the end of its life.
///
/// The parser is our own because the decoders at hand (Foundation's among them) turn every string into a `String`,
/// a `Data` or a dictionary, whose memory is copied freely and cannot be wiped, so a password or a value that passed
/// through one would stay in memory. Here a parsed value is an offset into the frame, and a secret is copied once,
/// by ``copySecret(_:into:)`` or ``copyBase64(_:into:)``, to where the caller wants it.
///
/// A ``Node`` belongs to the frame that gave it; in another frame it names some other value, or traps.
public struct Frame: ~Copyable, Sendable {
  /// The depth to which objects and arrays may nest, the message itself counted.
  public static let maximumDepth = 16
  /// The number of keys and values that a frame may hold: more than a call or a page of the largest items, with all
  /// that they can have, and few enough to be read within some milliseconds.
  public static let maximumValues = 1 << 15
  /// The number of members that one object may have. An item's attributes are the most that the interface knows.
  public static let maximumMembers = 256

  /// The kind of a value.
  public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

  /// A value in a frame.
  public struct Node: Hashable, Sendable {
    let index: UInt32
    init(_ index: Int) { self.index = UInt32(truncatingIfNeeded: index) }
  }

  /// The buffer that a frame lies in, for another frame to use again.
  struct Memory: ~Copyable {
    var bytes = SecretBuffer()
    var records: [JSONParser.Record] = []
  }

  private let memory: Memory

  /// Parses the JSON object that `text` is, without a NUL, and takes a copy of it.
  ///
  /// Throws ``FrameError``: RFC 8259 is held strictly, with no duplicate keys, well-formed UTF-8, whole surrogate
  /// pairs and the limits above. Numbers may be of any size; ``integer(_:)`` tells what fits.
  public init(parsing text: RawSpan) throws(FrameError) {
    var memory = Memory()
    try self.init(parsing: text, in: &memory)
  }

  /// The same in memory that another frame has left; `memory` has none afterwards.
  init(parsing text: RawSpan, in memory: inout Memory) throws(FrameError) {
    guard text.byteCount <= Int32.max else { throw .tooLong(limit: Int(Int32.max)) }
    var own = Memory()
    swap(&own, &memory)
    try JSONParser.parse(Span<UInt8>(_bytes: text), into: &own.records)
    guard own.records[0].kind == .object else { throw .notAnObject }
    own.bytes.append(text)
    self.memory = own
  }

  /// Wipes the frame and leaves its memory.
  consuming func leaveMemory() -> Memory {
    var memory = memory
    memory.bytes.removeAll()
    memory.records.removeAll(keepingCapacity: memory.records.count <= JSONParser.usualRecords)
    return memory
  }

  /// The message itself, always an object.
  public var root: Node { Node(0) }

  /// The length of the message in bytes.
  public var byteCount: Int { memory.bytes.count }

  private var records: [JSONParser.Record] { _read { yield memory.records } }

  /// The kind of `node`.
  public borrowing func kind(_ node: Node) -> Kind { record(node).kind }

  /// The value under `key` in `object`. Nil when it is absent or null, which Varlink does not tell apart, and when
  /// `object` is none.
  public borrowing func member(_ key: StaticString, of object: Node) -> Node? {
    guard let (value, _) = find(key, in: object), kind(value) != .null else { return nil }
    return value
  }

  /// The members of `object` in their order, null ones too; empty when it is no object.
  public borrowing func members(of object: Node) -> [(key: String, value: Node)] {
    guard kind(object) == .object else { return [] }
    var found: [(key: String, value: Node)] = []
    var key = Int(object.index) + 1
    let end = Int(record(object).next)
    while key < end {
      found.append((text(of: records[key]), Node(key + 1)))
      key = Int(records[key + 1].next)
    }
    return found
  }

  /// The elements of `array` in their order; empty when it is no array.
  public borrowing func elements(of array: Node) -> [Node] {
    guard kind(array) == .array else { return [] }
    var found: [Node] = []
    var element = Int(array.index) + 1
    let end = Int(record(array).next)
    while element < end {
      found.append(Node(element))
      element = Int(records[element].next)
    }
    return found
  }

  borrowing func memberCount(of object: Node) -> Int {
    let end = Int(record(object).next)
    var index = Int(object.index) + 1
    var count = 0
    while index < end {
      index = Int(records[index + 1].next)
      count += 1
    }
    return count
  }

  /// The value under `key` and its place among the members of `object`, counted from zero.
  borrowing func find(_ key: StaticString, in object: Node) -> (value: Node, place: Int)? {
    guard kind(object) == .object else { return nil }
    let end = Int(record(object).next)
    return withText { text in
      var index = Int(object.index) + 1
      var place = 0
      while index < end {
        if text.reads(key, at: records[index]) { return (Node(index + 1), place) }
        index = Int(records[index + 1].next)
        place += 1
      }
      return nil
    }
  }

  borrowing func record(_ node: Node) -> JSONParser.Record { records[Int(node.index)] }

  /// Lends the whole text.
  borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try memory.bytes.withBytes(body)
  }

  /// Lends the whole text.
  borrowing func withText<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
    try withBytes { bytes throws(E) in try body(Span<UInt8>(_bytes: bytes)) }
  }
}
