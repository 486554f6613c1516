internal import VaultBytes
public import VaultWire

/// The reader of a password store of `pass` (https://www.passwordstore.org) or gopass. `vault` decrypts the files, so
/// that those whose names end in `.gpg` are plaintext here.
public enum PassReader: SourceReader {
  private static let suffix = ".gpg"

  public static func recognizes(_ source: Source) -> Bool { source.files.contains { isEntry($0.path) } }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let count = source.files.count { isEntry($0.path) }
    guard count > 0 else { throw ImportFailure(.unknown, "no file of the password store ends in .gpg") }
    let files = count == 1 ? "1 file" : "\(count) files"
    try sink.begin(ImportedFormat(name: "pass", detail: "password store, \(files)"))
    for file in source.files { try sink.add(entry(file)) }
  }

  private static func isEntry(_ path: String) -> Bool { path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }

  private static func entry(_ file: Source.File) -> Entry {
    let path = file.path.utf8.dropLast(isEntry(file.path) ? suffix.utf8.count : 0)
    var names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let title = names.popLast() ?? ""
    guard isEntry(file.path) else {
      var entry = Entry(.value, id: file.path, folder: folder(names), title: title)
      let reason = "the file is not encrypted, so it is no entry of the store"
      entry.refuse(title, .attachment, size: file.bytes.count, reason)
      return entry
    }
    var entry = Entry(.login, id: String(decoding: path, as: UTF8.self), folder: folder(names), title: title)
    if let key = PEMText.kind(file.bytes) {
      entry.kind = key
      entry.put(key == .key ? "key" : "note", key == .key ? .password : .note, file.bytes)
    } else if isText(file.bytes) {
      PassText(file.bytes).add(to: &entry)
    } else {
      entry.kind = .value
      entry.put(title, .attachment, file.bytes, mediaType: "application/octet-stream")
    }
    if let modified = file.modified, modified > 0 { entry.put("modified", .modified, String(modified)) }
    return entry
  }

  /// The names of the folders; the innermost of very many are joined.
  private static func folder(_ names: [String]) -> [String] {
    let most = ImportedEntry.most.folders
    return names.count <= most ? names : names.prefix(most - 1) + [names.dropFirst(most - 1).joined(separator: "/")]
  }

  /// True if the bytes are UTF-8 without NUL characters. Nothing is copied, because a file may be large.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    let span = bytes.span
    var place = 0
    while place < span.count {
      guard span[place] != 0, let length = span[place] < 0x80 ? 1 : span.scalarLength(at: place) else { return false }
      place += length
    }
    return true
  }
}

/// Files that consist of PEM blocks alone, such as private keys, which are no password with lines after it.
private enum PEMText {
  /// The kind of entry that the file is: a key, or a note for other PEM blocks; nil for any other file.
  static func kind(_ bytes: [UInt8]) -> ImportedEntry.Kind? {
    let first = bytes.prefix { $0 != 0x0A }
    let text = String(decoding: first, as: UTF8.self)
    guard text.hasPrefix("-----BEGIN "), first.count < 100, first.count < bytes.count,
      bytes.withSpan({ $0.isText })
    else { return nil }
    return text.contains("PRIVATE KEY") ? .key : .note
  }
}
