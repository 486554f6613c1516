internal import VaultBytes
internal import VaultWire

/// The entries that were found in files of credentials.
struct FoundEntries {
  /// The most entries, of which each has some hundred bytes of its own.
  private static let most = 1 << 16

  private(set) var entries: [Entry] = []
  private var ids: Set<String> = []

  /// Adds an entry. Only the first of several with the same identification keeps it, because an identification means
  /// one entry.
  ///
  /// - Parameter isSecret: true if the source keeps secrets alone, so that every text counts as one.
  mutating func add(_ entry: Entry, isSecret: Bool = false) throws(ImportFailure) {
    guard entries.count < Self.most else {
      throw ImportFailure(.tooLarge, "there are more than \(Self.most) entries")
    }
    var entry = entry
    if !entry.id.isEmpty, !ids.insert(entry.id).inserted {
      entry.id = ""
      entry.fields.removeAll { $0.role == .identifier }
    }
    if !isSecret { entry.settle() }
    entries.append(entry)
  }

  /// Removes all entries but the first `count`.
  mutating func cut(to count: Int) {
    entries.removeLast(max(0, entries.count - count))
    ids = Set(entries.map(\.id))
  }
}

extension Entry {
  /// Makes an entry whose name is made of what its fields hold, so that the name is no field of its own.
  ///
  /// - Parameter path: the parts of the name. The name is also the identification.
  init(_ kind: ImportedEntry.Kind, at path: [String]) {
    self.init(kind, title: "")
    (folder, title) = (Array(path.dropLast()), path.last ?? "")
    id = path.joined(separator: "/")
    add("id", .identifier, id)
  }

  /// Makes an entry for what a file has besides its credentials.
  init(settingsOf file: Source.File) {
    self.init(.value, title: "")
    (folder, title) = (file.folders, file.name)
  }

  /// Adds a setting, with a reason of its own not to import it.
  mutating func addSetting(_ name: String, size: Int, _ reason: String? = nil) {
    fields.append(
      Field(name, .setting, [], size: size, refusal: reason ?? "it is a setting of the program that it comes from"))
  }

  /// Turns everything into settings if there is no secret: an item without a value would say nothing.
  fileprivate mutating func settle() {
    let isWithout = fields.allSatisfy { field in
      switch field.role {
      case .password, .oneTime, .note, .secret, .attachment, .document, .oldPassword, .oldField:
        field.refusal != nil || field.value.isEmpty
      case .title, .folder, .identifier, .username, .url, .text, .tag, .created, .modified, .expires, .setting: true
      }
    }
    guard isWithout else { return }
    id = ""
    fields.removeAll { $0.role == .identifier }
    for index in fields.indices where fields[index].refusal == nil {
      if fields[index].role == .setting || fields[index].value.isEmpty { continue }
      fields[index].role = .setting
      fields[index].refusal = "nothing beside it is a secret, so it stays where it is"
    }
  }
}
