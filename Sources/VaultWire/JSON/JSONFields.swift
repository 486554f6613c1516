// The writing of members of an object; a nil value is left out.
extension JSONWriter {
  mutating func field(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  mutating func field(_ name: StaticString, _ value: Int64?) {
    guard let value else { return }
    key(name)
    integer(value)
  }

  mutating func field(_ name: StaticString, _ value: Int?) { field(name, value.map { Int64($0) }) }

  mutating func field(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    key(name)
    bool(value)
  }

  /// Writes a map sorted by key, so that equal maps give equal texts.
  mutating func field(_ name: StaticString, _ value: [String: String]?) {
    guard let value else { return }
    key(name)
    beginObject()
    for (name, text) in value.sorted(by: { $0.key < $1.key }) {
      key(name)
      string(text)
    }
    endObject()
  }

  mutating func field(_ name: StaticString, _ value: [String]?) {
    guard let value else { return }
    key(name)
    beginArray()
    for text in value { string(text) }
    endArray()
  }

  mutating func field(_ name: StaticString, _ value: [Int]?) {
    guard let value else { return }
    key(name)
    beginArray()
    for number in value { integer(Int64(number)) }
    endArray()
  }

  mutating func field<T: WireValue>(_ name: StaticString, _ value: [T]?) {
    guard let value else { return }
    key(name)
    beginArray()
    for element in value { element.write(to: &self) }
    endArray()
  }

  mutating func field<T: WireValue>(_ name: StaticString, _ value: T?) {
    guard let value else { return }
    key(name)
    value.write(to: &self)
  }
}
