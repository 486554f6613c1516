/// A strictly parsed JSON object that owns its text and wipes it at the end of its life.
///
/// This program has its own parser because the available decoders, including Foundation's, turn every string into a
/// `String`, a `Data` or a dictionary. Their memory is copied freely and cannot be wiped, so a password or a value that
/// passed through them would stay in memory. Here a parsed value is an offset into the text, and a secret is copied
/// once, by ``copySecret(_:into:)`` or ``copyBase64(_:into:)``, to the place that the caller chooses.
///
/// A ``Node`` is valid only in the object that returned it; in another one it denotes some other value, or traps.
public struct JSONObject: ~Copyable, Sendable {
  /// The maximum depth to which objects and arrays of a message may nest, including the message itself.
  public static let maximumDepth = 16
  /// The highest number of keys and values of a message: more than a call or a page of the largest possible items
  /// needs, and few enough to be read within some milliseconds.
  public static let maximumValues = 1 << 15
  /// The highest number of members of one object of a message. The largest objects of the interface are the attributes
  /// of an item.
  public static let maximumMembers = 256

  /// The kind of a value.
  public enum Kind: UInt8, Sendable { case object, array, string, number, bool, null }

  /// A value in an object, or the object itself.
  public struct Node: Hashable, Sendable {
    let index: UInt32
    init(_ index: Int) { self.index = UInt32(truncatingIfNeeded: index) }
  }

  /// The memory of an object, for reuse by another one.
  package struct Memory: ~Copyable {
    var bytes = SecretBuffer()
    var records: [JSONParser.Record] = []

    package init() {}

    /// The number of values for which there is room already.
    package var room: Int { records.capacity }
  }

  private let memory: Memory
  /// True if whoever reads the object by a definition passes over members that the definition lacks.
  package var ignoresUnknownMembers = false

  /// Parses the JSON object in `text`, which has no NUL, and copies it.
  ///
  /// RFC 8259 is applied strictly: there are no duplicate keys, UTF-8 is well formed, surrogate pairs are complete, and
  /// the limits hold. Numbers may be of any size; ``integer(_:)`` tells which ones fit.
  /// - Throws: ``JSONFault``.
  public init(parsing text: RawSpan, within limits: JSONLimits = JSONLimits()) throws(JSONFault) {
    var memory = Memory()
    try self.init(parsing: text, within: limits, in: &memory)
  }

  /// Parses in memory that another object has left; `memory` is empty afterwards.
  package init(
    parsing text: RawSpan, within limits: JSONLimits = JSONLimits(), in memory: inout Memory
  ) throws(JSONFault) {
    guard text.byteCount <= Int32.max else { throw .tooLong(limit: Int(Int32.max)) }
    var own = Memory()
    swap(&own, &memory)
    try JSONParser.parse(Span<UInt8>(_bytes: text), within: limits, into: &own.records)
    guard own.records[0].kind == .object else { throw .notAnObject }
    own.bytes.append(text)
    self.memory = own
  }

  /// Wipes the object and returns its memory.
  package consuming func leaveMemory() -> Memory {
    var memory = memory
    memory.bytes.removeAll()
    memory.records.removeAll(keepingCapacity: memory.records.count <= JSONParser.usualRecords)
    return memory
  }

  /// The object itself.
  public var root: Node { Node(0) }

  /// The size of the text in bytes.
  public var byteCount: Int { memory.bytes.count }

  private var records: [JSONParser.Record] { _read { yield memory.records } }

  /// The kind of `node`.
  public borrowing func kind(_ node: Node) -> Kind { record(node).kind }

  /// The value of `key` in `object`. Nil if it is absent or null, which are the same in Varlink, or if `object`
  /// is not an object.
  public borrowing func member(_ key: StaticString, of object: Node) -> Node? {
    guard let (value, _) = find(key, in: object), kind(value) != .null else { return nil }
    return value
  }

  /// The members of `object` in their order, including null ones; empty if it is not an object.
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

  /// The elements of `array` in their order; empty if it is not an array.
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

  /// The number of members of `object`, including null ones.
  package borrowing func memberCount(of object: Node) -> Int {
    let end = Int(record(object).next)
    var index = Int(object.index) + 1
    var count = 0
    while index < end {
      index = Int(records[index + 1].next)
      count += 1
    }
    return count
  }

  /// The value of `key`, and its place among the members of `object`, counted from zero.
  package borrowing func find(_ key: StaticString, in object: Node) -> (value: Node, place: Int)? {
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
