internal import VaultBytes

// The writing of members that are values of the interface; a nil value is left out.
extension JSONWriter {
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
