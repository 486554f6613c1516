internal import VaultWire

/// The members of an object that a reader does not know, with their places in the text, such as those of a later
/// version of a format.
struct UnknownMembers {
  private static let most = 64

  private var members: [(name: String, place: JSONReader)] = []

  /// Keeps a member before whose value the reader stands.
  mutating func add(_ name: String, _ place: JSONReader) throws(ImportFailure) {
    guard members.count < Self.most else {
      throw ImportFailure(.tooLarge, "the export has more than \(Self.most) unknown members")
    }
    members.append((name, place))
  }

  /// Adds the members as fields of an entry. One for which an item has no room is refused.
  func add(to entry: inout Entry) throws(ImportFailure) {
    for (name, var place) in members {
      let start = place.offset
      var end = place
      try end.skip()
      if end.offset - start > 2 * ImportedField.longestValue {
        // The bound leaves room for white space; a value that is too large without it is refused later.
        entry.refuseTooLarge(name, .document, size: end.offset - start)
      } else {
        entry.addUnknown(name, try place.value())
      }
    }
  }
}

extension JSONReader {
  /// Reads an array as ``array(_:)`` does, or null, which stands for an empty one.
  mutating func arrayOrNull(_ body: (inout JSONReader) throws(ImportFailure) -> Void) throws(ImportFailure) {
    var next = self
    if case .null = try next.next() { self = next } else { try array(body) }
  }
}

extension Entry {
  /// Adds a setting of another program unless it says nothing; a list or an object as JSON.
  mutating func addSetting(_ name: String, _ value: JSONValue) {
    guard !value.isBlank else { return }
    fields.append(Field(name, .setting, value.string.map { Array($0.utf8) } ?? value.json))
  }
}
