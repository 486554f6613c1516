internal import VaultWire

/// The entries of a database with all their fields, as the import takes them.
struct KDBXAccount {
  /// The most bytes of all values together. Entries may share attachments, so this can be more than the file holds.
  private static let most = 1 << 30

  let document: KDBXDocument
  var references: KDBXReferences
  /// The groups that are the one for deleted entries, or lie in it.
  private let trash: Set<Int>
  private var left = Self.most

  init(_ document: KDBXDocument) {
    self.document = document
    references = KDBXReferences(document.entries)
    var trash: Set<Int> = []
    // A group comes after the one that contains it.
    for (number, group) in document.groups.enumerated() {
      let isBin = !group.id.isEmpty && group.id == document.about.recycleBin
      if isBin || group.parent.map(trash.contains) ?? false { trash.insert(number) }
    }
    self.trash = trash
  }

  /// The identification of the database: that of its outermost group.
  var source: String {
    guard let id = document.groups.first?.id, !id.isEmpty else { return "" }
    return "kdbx:\(id)"
  }

  /// Passes on all entries in the order of the document, then the notes of groups, and what is left.
  ///
  /// - Parameter name: The name of the database if it has none itself.
  mutating func send(_ name: String, to sink: inout some EntrySink) throws(ImportFailure) {
    for entry in document.entries { try send(imported(entry), to: &sink) }
    let title = document.about.name.isEmpty ? name : document.about.name
    var about = Entry(.note, id: "database", title: title.cut(ImportedEntry.most.text))
    let count = about.fields.count
    about.addUnlessEmpty("DatabaseDescription", .note, document.about.description)
    for setting in document.about.settings { about.put(setting.name, .setting, setting.value) }
    for (number, group) in document.groups.enumerated() {
      let folder = try folder(number)
      // The programs make the groups for everything and for deleted entries, with icons of their own.
      let isMade = group.parent == nil || group.id == document.about.recycleBin
      if !group.notes.isEmpty {
        var entry = Entry(.note, id: group.id, folder: folder, title: group.name.cut(ImportedEntry.most.text))
        entry.isTrashed = isTrash(number)
        entry.put("Notes", .note, group.notes)
        for setting in group.settings { entry.put(setting.name, .setting, setting.value) }
        try send(entry, to: &sink)
      } else if !isMade {
        for setting in group.settings {
          about.put("\(folder.joined(separator: "/")): \(setting.name)", .setting, setting.value)
        }
      }
    }
    if about.fields.count > count { try send(about, to: &sink) }
  }

  private mutating func send(_ entry: Entry, to sink: inout some EntrySink) throws(ImportFailure) {
    var entry = entry
    entry.limitFields()
    left -= entry.fields.reduce(0) { $0 + $1.value.count }
    guard left >= 0 else {
      throw ImportFailure(.tooLarge, "the entries of the database hold more than \(KDBXWords.size(Self.most))")
    }
    try sink.add(entry)
  }

  /// Decides whether a group is the one for deleted entries, or lies in it.
  func isTrash(_ group: Int?) -> Bool { group.map(trash.contains) ?? false }

  /// The names of the groups from below the outermost one.
  func folder(_ number: Int?) throws(ImportFailure) -> [String] {
    var names: [String] = []
    var next = number
    while let number = next, let parent = document.groups[number].parent {
      names.append(document.groups[number].name.cut(ImportedEntry.most.text))
      guard names.count <= ImportedEntry.most.folders else {
        throw ImportFailure(.tooLarge, "groups are nested more than \(ImportedEntry.most.folders) deep")
      }
      next = parent
    }
    return names.reversed()
  }
}
