internal import VaultWire

/// The files of an export: those in its archive, or those of a folder.
final class OnePasswordFiles {
  static let (data, attributes) = ("export.data", "export.attributes")
  private static let folder = "files/"

  private enum Content {
    case packed(ZipMember)
    case file([UInt8])

    var size: Int {
      switch self {
      case .packed(let member): member.size
      case .file(let bytes): bytes.count
      }
    }
  }

  private var archive: ZipArchive?
  private var contents: [String: Content] = [:]
  /// The paths of the items' files by the id with which their names begin.
  private var paths: [String: String] = [:]
  private var used: Set<String> = []

  init(_ source: Source) throws(ImportFailure) {
    if let file = source.files.first, source.files.count == 1, ZipArchive.isLikely(file.bytes) {
      let archive = try ZipArchive(file.bytes)
      for member in archive.members { contents[member.name] = .packed(member) }
      self.archive = archive
    } else {
      for file in source.files {
        guard contents.updateValue(.file(file.bytes), forKey: Self.path(of: file)) == nil else {
          throw ImportFailure(.unsupported, "the folder has more than one export; import them one by one")
        }
      }
    }
    for path in contents.keys.sorted() where path.hasPrefix(Self.folder) {
      let name = path.dropFirst(Self.folder.count)
      paths[Self.id(name)] = path
    }
  }

  /// The path of a file within the export: a folder that contains all of it may be around it.
  static func path(of file: Source.File) -> String {
    file.folders.last == "files" ? folder + file.name : file.name
  }

  /// The id of a document: its name is `ID__NAME`.
  private static func id(_ name: Substring) -> String {
    let bytes = Array(name.utf8)
    let end = bytes.indices.dropLast().first { bytes[$0] == UInt8(ascii: "_") && bytes[$0 + 1] == UInt8(ascii: "_") }
    return String(decoding: bytes[..<(end ?? bytes.count)], as: UTF8.self)
  }

  /// The content of a file; nil if there is none.
  func content(_ path: String) throws(ImportFailure) -> [UInt8]? {
    guard let content = contents[path] else { return nil }
    used.insert(path)
    switch content {
    case .packed(let member): return try archive?.content(of: member)
    case .file(let bytes): return bytes
    }
  }

  /// Adds the file of an item as an attachment.
  ///
  /// - Parameters:
  ///   - usual: the name of the attachment if the file has none.
  ///   - size: the size of which the item knows.
  func add(
    document id: String, named name: String, _ usual: String, declared size: Int, to entry: inout Entry
  ) throws(ImportFailure) {
    let label = name.isEmpty ? usual : name
    let exact = "\(Self.folder)\(id)__\(name)"
    guard let path = contents[exact] == nil ? paths[id] : exact else {
      return entry.refuse(label, .attachment, size: size, "the export does not have the file")
    }
    try add(path, named: label, to: &entry)
  }

  /// Adds the file at a path within the export, which a wrapped item names; returns false if there is none.
  func add(at path: String, named name: String, to entry: inout Entry) throws(ImportFailure) -> Bool {
    guard contents[path] != nil else { return false }
    try add(path, named: name.isEmpty ? path : name, to: &entry)
    return true
  }

  /// Adds the picture of a vault or of an account.
  func add(picture name: String, of owner: String, to entry: inout Entry) throws(ImportFailure) {
    let path = Self.folder + name
    guard let content = contents[path] else { return entry.add("avatar of \(owner)", .setting, name) }
    used.insert(path)
    entry.fields.append(Field("avatar of \(owner)", .setting, [], size: content.size))
  }

  private func add(_ path: String, named name: String, to entry: inout Entry) throws(ImportFailure) {
    used.insert(path)
    let size = contents[path]?.size ?? 0
    guard size <= ImportedField.longestValue else { return entry.refuseTooLarge(name, .attachment, size: size) }
    guard let content = try content(path) else { return }
    // An empty file is a file, too; the account says that there is nothing in it.
    entry.fields.append(Field(name, .attachment, content))
  }

  /// Adds the files that no item names.
  func addUnused(to entry: inout Entry) throws(ImportFailure) {
    for path in contents.keys.sorted() where !used.contains(path) {
      if path.hasPrefix(Self.folder) {
        try add(path, named: path, to: &entry)
      } else {
        entry.refuse(path, .attachment, size: contents[path]?.size ?? 0, "an export of 1Password has no such file")
      }
    }
  }
}
