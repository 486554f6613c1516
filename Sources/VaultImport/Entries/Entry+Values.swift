public import VaultWire

extension Entry {
  /// Adds a field with bytes of the source unless they are empty. Bytes for which an item has no room are refused.
  public mutating func put(
    _ name: String, _ role: ImportedField.Role, _ value: some Collection<UInt8>, mediaType: String? = nil
  ) {
    guard !value.isEmpty else { return }
    guard value.count <= ImportedField.longestValue else { return refuseTooLarge(name, role, size: value.count) }
    fields.append(Field(name, role, Array(value), mediaType: mediaType))
  }

  /// Adds a field with a text of the source unless it is empty. A text for which an item has no room is refused.
  public mutating func put(_ name: String, _ role: ImportedField.Role, _ text: String) { put(name, role, text.utf8) }

  /// Refuses a field of `size` bytes because an item has no room for it.
  public mutating func refuseTooLarge(_ name: String, _ role: ImportedField.Role, size: Int) {
    refuse(name, role, size: size, "it has \(size) bytes, and an item has room for 1 MiB")
  }
}
