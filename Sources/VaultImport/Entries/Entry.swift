public import VaultWire

/// An entry as a reader found it, with the values of its fields.
///
/// The program exits after one source, so values lie in ordinary memory here.
public struct Entry: Sendable {
  public var kind: ImportedEntry.Kind
  /// The identification in the source; empty if there is none.
  public var id: String
  /// The names of the folders that contain the entry, from the outermost one.
  public var folder: [String]
  public var title: String
  public var isTrashed = false
  public var fields: [Field] = []

  /// Makes an entry with the fields for its title, its folder and its identification; each only if there is one.
  public init(_ kind: ImportedEntry.Kind, id: String = "", folder: [String] = [], title: String) {
    (self.kind, self.id, self.folder, self.title) = (kind, id, folder, title)
    if !title.isEmpty { add("title", .title, title) }
    if !folder.isEmpty { add("folder", .folder, folder.joined(separator: "/")) }
    if !id.isEmpty { add("id", .identifier, id) }
  }

  /// Makes an entry for what is no entry of the source, such as the settings of a file. Its name is not from the
  /// source, and so no field of it.
  public init(of folder: [String], named title: String) {
    self.init(.login, title: "")
    (self.folder, self.title) = (folder, title)
  }

  /// Adds a field with a text.
  public mutating func add(_ name: String, _ role: ImportedField.Role, _ text: String, time: Int64? = nil) {
    fields.append(Field(name, role, Array(text.utf8), time: time))
  }

  /// Adds a field with a text unless the text is empty; a source often writes every field, whether it is used or not.
  public mutating func addUnlessEmpty(_ name: String, _ role: ImportedField.Role, _ text: String) {
    if !text.isEmpty { add(name, role, text) }
  }

  /// Adds a field that cannot be imported, with its size in bytes.
  public mutating func refuse(_ name: String, _ role: ImportedField.Role, size: Int, _ reason: String) {
    fields.append(Field(name, role, [], size: size, refusal: reason))
  }
}

/// A field with its value.
public struct Field: Sendable {
  public var name: String
  public var role: ImportedField.Role
  public var value: [UInt8]
  /// The time at which an old value was written, in Unix seconds.
  public var time: Int64?
  public var mediaType: String?
  /// The size of the value in bytes, also of one that is left out here.
  public var size: Int
  /// The reason why the field cannot be imported.
  public var refusal: String?
  /// The place in the only file of the source, where a template can have an item's value; nil if it cannot.
  public var place: ImportedPlace?
  /// The mark that an export of a vault has left; see ``ImportedField/mark``.
  public var mark: String?

  public init(
    _ name: String, _ role: ImportedField.Role, _ value: [UInt8], time: Int64? = nil, mediaType: String? = nil,
    size: Int? = nil, refusal: String? = nil, place: ImportedPlace? = nil, mark: String? = nil
  ) {
    (self.name, self.role, self.value, self.time, self.mark) = (name, role, value, time, mark)
    (self.mediaType, self.size, self.refusal, self.place) = (mediaType, size ?? value.count, refusal, place)
  }
}
