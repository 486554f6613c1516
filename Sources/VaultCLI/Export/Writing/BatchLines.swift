internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Items as the lines that `vault set --batch` reads, so that the output of one vault is the input of another.
///
/// The lines have no attributes by which an import knows its items: in the other vault the items are none of an import,
/// and whoever stores them would make those of others their own.
enum BatchLines {
  static func text(_ items: [ExportedItem]) -> SecretBuffer {
    var text = SecretBuffer(capacity: 64 << 10)
    for item in items {
      let line = line(item)
      line.withBytes { text.append($0) }
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }

  /// The JSON object of an item.
  private static func line(_ item: ExportedItem) -> SecretBuffer {
    let facts = item.facts
    var object = JSONBuilder(capacity: item.value.count * 4 / 3 + 512)
    object.add(BatchField.name.rawValue, item.name.text)
    object.add(BatchField.kind.rawValue, facts.kind)
    // A kind that has a use of its own sets it.
    object.add(BatchField.use.rawValue, item.kind.use == nil ? facts.use : nil)
    // No import of another vault can be taken back there.
    let attributes = ImportMark.unmarked(facts.attributes)
    if !attributes.isEmpty { add(attributes, to: &object) }
    object.add(BatchField.accessible.rawValue, facts.accessible)
    if facts.require != Requirement.none.name {
      object.add(BatchField.require.rawValue, facts.require)
      object.add(BatchField.reuse.rawValue, facts.reuse)
    }
    object.add(BatchField.expires.rawValue, facts.expires)
    item.value.withBytes { object.add(content: $0) }
    return object.take()
  }

  private static func add(_ attributes: [String: String], to object: inout JSONBuilder) {
    object.add(BatchField.attributes.rawValue) { object in
      for (key, text) in attributes.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
        object.add(key, text)
      }
    }
  }

  /// The losses of an item in this form.
  static func losses(of item: ExportedItem) -> [ExportLoss] {
    item.versions.isEmpty ? [] : [.versions(item.versions.count)]
  }
}
