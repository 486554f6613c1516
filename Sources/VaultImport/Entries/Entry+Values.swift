public import VaultWire

extension Entry {
  /// Adds a field with bytes of the source unless they are empty. Bytes for which an item has no room are refused.
  public mutating func put(
    _ name: String, _ role: ImportedField.Role, _ value: some Collection<UInt8>, time: Int64? = nil,
    mediaType: String? = nil
  ) {
    guard !value.isEmpty else { return }
    guard value.count <= ImportedField.longestValue else { return refuseTooLarge(name, role, size: value.count) }
    fields.append(Field(name, role, Array(value), time: time, mediaType: mediaType))
  }

  /// Adds a field with a text of the source unless it is empty. A text for which an item has no room is refused.
  public mutating func put(_ name: String, _ role: ImportedField.Role, _ text: String) { put(name, role, text.utf8) }

  /// Refuses a field of `size` bytes because an item has no room for it.
  public mutating func refuseTooLarge(_ name: String, _ role: ImportedField.Role, size: Int) {
    refuse(name, role, size: size, ImportedField.tooLarge(size))
  }
}

extension String {
  /// The text, or as many whole characters of it as have at most `count` bytes.
  func cut(_ count: Int) -> String {
    guard utf8.count > count else { return self }
    var end = utf8.index(startIndex, offsetBy: count)
    while end > startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
