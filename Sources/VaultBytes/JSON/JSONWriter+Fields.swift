// The writing of members of an object; a nil value is left out.
extension JSONWriter {
  package mutating func field(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  package mutating func field(_ name: StaticString, _ value: Int64?) {
    guard let value else { return }
    key(name)
    integer(value)
  }

  package mutating func field(_ name: StaticString, _ value: Int?) { field(name, value.map { Int64($0) }) }

  package mutating func field(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    key(name)
    bool(value)
  }

  /// Writes a map sorted by key, so that equal maps give equal texts.
  package mutating func field(_ name: StaticString, _ value: [String: String]?) {
    guard let value else { return }
    key(name)
    beginObject()
    for (name, text) in value.sorted(by: { $0.key < $1.key }) {
      key(name)
      string(text)
    }
    endObject()
  }

  package mutating func field(_ name: StaticString, _ value: [String]?) {
    guard let value else { return }
    key(name)
    beginArray()
    for text in value { string(text) }
    endArray()
  }

  package mutating func field(_ name: StaticString, _ value: [Int]?) {
    guard let value else { return }
    key(name)
    beginArray()
    for number in value { integer(Int64(number)) }
    endArray()
  }
}
