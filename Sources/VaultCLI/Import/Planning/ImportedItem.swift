internal import VaultModel

/// An item that an import makes of fields of an entry.
final class ImportedItem {
  let name: ItemName
  /// The name without the number that tells it from others.
  let plain: ItemName
  /// The name under which the item is found again, whatever numbers it and its folder have.
  let family: ItemName
  /// The names that the same field has after an export to another format and back.
  var otherNames: [ItemName] = []
  /// The kind; a vault that refuses the value for its kind gets it as a ``ItemKind/blob``.
  var kind: ItemKind
  var attributes: [String: String] = [:]
  /// The time at which the item expires, in Unix seconds; nil if the source gives none that counts.
  var expires: Int64?
  /// The field whose value is the item's.
  let value: SourceField
  /// The fields whose values become earlier versions, oldest first.
  var versions: [SourceField] = []

  init(_ name: ItemName, plain: ItemName, family: ItemName, kind: ItemKind, value: SourceField) {
    (self.name, self.plain, self.family, self.kind, self.value) = (name, plain, family, kind, value)
  }

  /// The number of versions that storing the item makes.
  var versionCount: Int { versions.count + 1 }
}

/// The keys of the attributes that an import makes: those by which it knows its items again, and the times of the
/// source.
enum ImportKey {
  static let source = ImportMark.source
  static let id = ImportMark.id
  static let field = ImportMark.field
  static let created = "source-created"
  static let modified = "source-modified"
  static let expires = "source-expires"
  static let run = ImportMark.run
  static let version = ImportMark.version
  static let replaced = ImportMark.replaced
  /// The text before the identification of an import in that attribute, if the version that was replaced is not the one
  /// that this import has stored.
  static let changed = "before:"
  static let replacedExpiry = ImportMark.replacedExpiry
  /// The value of that attribute for an item that did not expire.
  static let never = "never"
  static let replacedKind = ImportMark.replacedKind

  /// The keys that say nothing about the content of an item.
  static let ofImport = ImportMark.keys.union([source, created, modified, expires])
}

/// The way of one field of the source into the vault.
enum FieldFate: Hashable {
  /// The field is part of the item's name, and not stored apart from that.
  case name
  case value
  case attribute(String)
  /// The field is the value of an item beside the main one.
  case beside
  /// The field is an earlier version of the item's value.
  case version
  case expiry
  case refused(String)
}

/// The fate of a field, and the item that takes it; nil if none does.
struct FieldPlace {
  let fate: FieldFate
  /// The index among the items of the entry.
  var item: Int?
  /// The number of versions, for a field that is one, from this one to the item's current value.
  var age = 0
}

/// An entry of the source with the items that an import makes of it.
final class MappedEntry {
  let source: SourceEntry
  let name: ItemName
  let items: [ImportedItem]
  /// True if the entry has no value of its own, so that its only item is a note of its texts.
  let isValueless: Bool
  /// The places of the fields, in their order.
  let places: [FieldPlace]

  init(_ source: SourceEntry, name: ItemName, items: [ImportedItem], isValueless: Bool, places: [FieldPlace]) {
    (self.source, self.name, self.items, self.isValueless, self.places) = (source, name, items, isValueless, places)
  }
}
