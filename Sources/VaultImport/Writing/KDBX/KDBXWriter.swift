internal import VaultBytes
internal import VaultWire

/// The writer of databases of KeePass in the format KDBX 4.
enum KDBXWriter: EntryWriter {
  /// An entry with its identification and the number of its first file.
  private struct Placed {
    let folder: [String]
    let markup: KDBXEntryMarkup
    let attachment: Int
  }

  static func write(
    _ entries: [Entry], _ order: ExportOrder, password: [UInt8]?, to output: ExportOutput
  ) throws(ImportFailure) {
    guard let password, let memory = order.memory else {
      throw ImportFailure(.noSecret, "a KeePass database has a password")
    }
    let placed = try place(entries, order)
    var markup = try KDBXMarkup(KDBXSeal(password: password, memory: memory, to: output))
    for entry in placed { for file in entry.markup.attachments { try markup.add(attachment: file.value) } }
    markup.beginDocument()
    writeMeta(order, to: &markup)
    markup.open("Root")
    try writeGroups(placed, order, to: &markup)
    markup.close("Root")
    try markup.finish()
  }

  /// The entries, those of a folder together and before those of the folders within it.
  private static func place(_ entries: [Entry], _ order: ExportOrder) throws(ImportFailure) -> [Placed] {
    let sorted = entries.enumerated().sorted { one, other in
      let (first, second) = (one.element.folder.map { Array($0.utf8) }, other.element.folder.map { Array($0.utf8) })
      if first == second { return one.offset < other.offset }
      return first.lexicographicallyPrecedes(second) { $0.lexicographicallyPrecedes($1) }
    }.map(\.element)
    var placed: [Placed] = []
    var taken: Set<[UInt8]> = []
    var attachment = 0
    for entry in sorted {
      let markup = KDBXEntryMarkup(entry, id: try id(of: entry, &taken), now: order.time)
      placed.append(Placed(folder: entry.folder, markup: markup, attachment: attachment))
      attachment += markup.attachments.count
    }
    return placed
  }

  /// The identification of the entry, or else one that its name makes. No two entries have the same.
  private static func id(of entry: Entry, _ taken: inout Set<[UInt8]>) throws(ImportFailure) -> [UInt8] {
    if let id = [UInt8](hex: entry.id), id.count == 16, id.contains(where: { $0 != 0 }), taken.insert(id).inserted {
      return id
    }
    var number = 1
    while true {
      let id = try StableIdentifier.bytes(["entry"] + entry.folder + [entry.title, String(number)])
      if taken.insert(id).inserted { return id }
      number += 1
    }
  }

  private static func writeMeta(_ order: ExportOrder, to markup: inout KDBXMarkup) {
    markup.open("Meta")
    markup.element("Generator", "vault")
    markup.element("DatabaseName", order.name)
    markup.element("RecycleBinEnabled", "True")
    markup.element("HistoryMaxItems", "10")
    markup.element("HistoryMaxSize", "6291456")
    markup.open("MemoryProtection")
    for name in ["Title", "UserName", "Password", "URL", "Notes"] {
      markup.element("Protect\(name)", name == "Password" ? "True" : "False")
    }
    markup.close("MemoryProtection")
    markup.close("Meta")
  }

  // MARK: Groups

  private static func writeGroups(
    _ placed: [Placed], _ order: ExportOrder, to markup: inout KDBXMarkup
  ) throws(ImportFailure) {
    var open: [String] = []
    try begin([order.name], isOutermost: true, order, &markup)
    for entry in placed {
      let common = zip(open, entry.folder).prefix { $0.utf8.elementsEqual($1.utf8) }.count
      while open.count > common {
        markup.close("Group")
        open.removeLast()
      }
      for name in entry.folder.dropFirst(common) {
        open.append(name)
        try begin(open, order, &markup)
      }
      try entry.markup.write(to: &markup, attachment: entry.attachment)
    }
    for _ in open { markup.close("Group") }
    markup.close("Group")
  }

  /// Begins a group, whose entries and groups follow.
  private static func begin(
    _ path: [String], isOutermost: Bool = false, _ order: ExportOrder, _ markup: inout KDBXMarkup
  ) throws(ImportFailure) {
    markup.open("Group")
    markup.element("UUID", try StableIdentifier.bytes([isOutermost ? "database" : "group"] + path).base64)
    markup.element("Name", path.last ?? "")
    markup.element("IconID", "48")
    markup.open("Times")
    for name in ["CreationTime", "LastModificationTime", "LastAccessTime", "ExpiryTime", "LocationChanged"] {
      markup.element(name, KDBXTime.text(order.time))
    }
    markup.element("Expires", "False")
    markup.element("UsageCount", "0")
    markup.close("Times")
    markup.element("IsExpanded", "True")
  }
}
