internal import VaultBytes
public import VaultWire

/// The reader of a password store of `pass` (https://www.passwordstore.org) or gopass. `vault` decrypts the files, so
/// that those whose names end in `.gpg` are plaintext here.
///
/// `vault` also knows a store by itself, and names the format. What comes here unnamed is a store only if nothing else
/// lies in it: other folders have keys of OpenPGP as well, such as `/etc` those of apt.
public enum PassReader: SourceReader {
  private static let store = PasswordStore(name: "pass", suffix: ".gpg")

  public static func recognizes(_ source: Source) -> Bool {
    !source.files.isEmpty && source.files.allSatisfy { store.isEntry($0.path) && !isOfOpenPGP($0.bytes) }
  }

  /// True for a message or a key of OpenPGP, which nobody has decrypted. It is in ASCII armor, or begins with the tag
  /// of a packet (RFC 9580, section 4.2) as GnuPG writes it, with which no UTF-8 begins.
  private static func isOfOpenPGP(_ bytes: [UInt8]) -> Bool {
    bytes.first.map { (0x80...0xC1).contains($0) } ?? false || bytes.starts(with: "-----BEGIN PGP ".utf8)
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    try store.read(source, into: &sink)
  }
}

/// The reader of a password store of `passage` (https://github.com/FiloSottile/passage), which has the form of one of
/// `pass`, but whose files `age` encrypts. `vault` decrypts them, so that those whose names end in `.age` are plaintext
/// here.
public enum PassageReader: SourceReader {
  private static let store = PasswordStore(name: "passage", suffix: ".age")
  /// The beginnings of files that are encrypted (https://age-encryption.org/v1).
  private static let headers = ["age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE-----"]

  public static func recognizes(_ source: Source) -> Bool {
    let files = source.files.filter { store.isEntry($0.path) }
    return !files.isEmpty && !files.contains(where: isEncrypted)
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    guard !source.files.contains(where: isEncrypted) else {
      throw ImportFailure(.unsupported, "a file is encrypted by age; import the folder of the store as a whole")
    }
    try store.read(source, into: &sink)
  }

  private static func isEncrypted(_ file: Source.File) -> Bool { headers.contains { file.bytes.starts(with: $0.utf8) } }
}

/// A password store, whose decrypted files each are an entry.
private struct PasswordStore {
  let name: String
  /// The ending of the names of the files.
  let suffix: String

  func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let count = source.files.count { isEntry($0.path) }
    guard count > 0 else { throw ImportFailure(.unknown, "no file of the password store ends in \(suffix)") }
    let files = count == 1 ? "1 file" : "\(count) files"
    try sink.begin(ImportedFormat(name: name, detail: "password store, \(files)"))
    for file in source.files { try sink.add(entry(file)) }
  }

  func isEntry(_ path: String) -> Bool { path.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }

  private func entry(_ file: Source.File) -> Entry {
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
  private func folder(_ names: [String]) -> [String] {
    let most = ImportedEntry.most.folders
    return names.count <= most ? names : names.prefix(most - 1) + [names.dropFirst(most - 1).joined(separator: "/")]
  }

  /// True if the bytes are UTF-8 without NUL characters. Nothing is copied, because a file may be large.
  private func isText(_ bytes: [UInt8]) -> Bool {
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
