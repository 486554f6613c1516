internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A value of one of the types that ``JSONBuilder`` writes.
protocol JSONValue {
  func write(to writer: inout JSONWriter)
}

extension String: JSONValue {
  func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Int64: JSONValue {
  func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: JSONValue {
  func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
}

extension Bool: JSONValue {
  func write(to writer: inout JSONWriter) { writer.bool(self) }
}

extension Array: JSONValue where Element: JSONValue {
  func write(to writer: inout JSONWriter) { writer.array(self) { $1.write(to: &$0) } }
}

/// A JSON object that is written member by member, in the order of the calls, into memory that wipes itself.
///
/// A nil value is left out. Secrets go through ``add(_:secret:)`` and ``add(content:)`` alone, because a `String`
/// stays in memory.
struct JSONBuilder: ~Copyable {
  private var writer: JSONWriter

  /// Makes an empty object with room for `capacity` bytes, which grows if necessary.
  init(capacity: Int = 256) {
    writer = JSONWriter(capacity: capacity)
    writer.beginObject()
  }

  /// Ends the object and returns its text.
  consuming func take() -> SecretBuffer {
    writer.endObject()
    return writer.take()
  }

  mutating func add(_ key: String, _ value: (some JSONValue)?) {
    guard let value else { return }
    writer.key(key)
    value.write(to: &writer)
  }

  /// Adds a value of the daemon's interface.
  mutating func add(_ key: String, _ value: some WireValue) {
    writer.key(key)
    value.write(to: &writer)
  }

  /// Adds an array of values of the daemon's interface.
  mutating func add(_ key: String, _ values: [some WireValue]) {
    writer.key(key)
    writer.array(values) { $1.write(to: &$0) }
  }

  /// Adds a string from the bytes of a secret, which must be UTF-8.
  mutating func add(_ key: String, secret utf8: RawSpan) {
    writer.key(key)
    writer.secret(utf8)
  }

  /// Adds a secret as `value` if it is text, otherwise as `data` in base64.
  mutating func add(content bytes: RawSpan) { writer.content(bytes) }

  /// Adds an object with the members that `body` adds.
  mutating func add<E: Error>(_ key: String, object body: (inout JSONBuilder) throws(E) -> Void) throws(E) {
    writer.key(key)
    writer.beginObject()
    try body(&self)
    writer.endObject()
  }

  /// Adds an array with an object for each of the elements.
  mutating func add<Elements: Sequence>(
    _ key: String, _ elements: Elements, object body: (inout JSONBuilder, Elements.Element) -> Void
  ) {
    writer.key(key)
    writer.beginArray()
    for element in elements {
      writer.beginObject()
      body(&self, element)
      writer.endObject()
    }
    writer.endArray()
  }
}

extension WireValue {
  /// Returns the value, without its secret if it has one, as JSON.
  func jsonText() -> SecretBuffer {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.take()
  }
}

extension JSONWriter {
  fileprivate mutating func array<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
    beginArray()
    for element in elements { write(&self, element) }
    endArray()
  }
}
