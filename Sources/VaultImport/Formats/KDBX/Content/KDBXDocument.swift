/// The content of a database.
struct KDBXDocument {
  var groups: [KDBXGroup] = []
  var entries: [KDBXEntry] = []
  /// The attachments by the number to which entries refer.
  var binaries: [String: KDBXBinary] = [:]
  var about = KDBXAbout()
}

/// The facts about the database itself.
struct KDBXAbout {
  var name = ""
  /// The identification of the group for deleted entries; empty if there is none.
  var recycleBin = ""
  /// The hash of the header, which KDBX 3.1 has here.
  var headerHash: [UInt8]?
  var description = ""
  var settings: [KDBXSetting] = []
}

/// A group, which is a folder of entries.
struct KDBXGroup {
  /// The number of the group that contains it; nil for the outermost one.
  let parent: Int?
  var id = ""
  var name = ""
  var notes: [UInt8] = []
  var settings: [KDBXSetting] = []
}

/// A fact that matters only to KeePass, such as an icon.
struct KDBXSetting {
  let name: String
  let value: [UInt8]
}

/// An entry with its earlier versions.
struct KDBXEntry {
  /// The number of the group; nil if the entry lies in none.
  var group: Int?
  var id = ""
  var current = KDBXVersion()
  /// The earlier versions in the order of the document, the oldest one first.
  var history: [KDBXVersion] = []
}

/// An entry at some time.
struct KDBXVersion {
  var texts: [KDBXText] = []
  var attachments: [KDBXAttachment] = []
  var tags: [String] = []
  /// The times in Unix seconds.
  var created: Int64?
  var modified: Int64?
  var expires: Int64?
  var settings: [KDBXSetting] = []
}

/// A field, such as the password or one that a person added.
struct KDBXText {
  let key: String
  /// The text in UTF-8.
  var value: [UInt8]
  let isProtected: Bool
}

/// A file of an entry.
struct KDBXAttachment: Hashable {
  let name: String
  /// The number of the attachment; nil for one that lies in the entry.
  let reference: String?
  /// The content of one that lies in the entry.
  var content: KDBXBinary?
}
