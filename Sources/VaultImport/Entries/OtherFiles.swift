internal import VaultBytes
internal import VaultWire

/// The files of a folder that are not of the format, which the account lists together.
struct OtherFiles {
  private var entry = Entry(of: [], named: "other files")

  mutating func add(_ file: Source.File, _ reason: String) {
    entry.refuse(file.path, .attachment, size: file.bytes.count, reason)
  }

  /// Adds a file that nobody needs to keep.
  mutating func addCache(_ file: Source.File, _ reason: String) {
    entry.refuse(file.path, .setting, size: file.bytes.count, reason)
  }

  /// The entry of the files, if there are any.
  var entries: [Entry] { entry.fields.isEmpty ? [] : [entry] }

  /// Sends the entry of the files, if there are any.
  func send(into sink: inout some EntrySink) throws(ImportFailure) {
    for entry in entries { try sink.add(entry) }
  }
}

extension Source.File {
  /// The most bytes of a file in which a word is looked for.
  private static let examined = 1 << 20

  /// The names of the folders that contain the file.
  var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

  /// True if the beginning of the file contains a text.
  func mentions(_ text: StaticString) -> Bool {
    let last = min(bytes.count, Self.examined) - text.utf8CodeUnitCount
    guard last >= 0 else { return false }
    return bytes.withSpan { span in (0...last).contains { span.hasBytes(text, at: $0) } }
  }

  /// The file that a path leads to from the folder of this file; nil if the path leads out of the source.
  func neighbor(_ path: String, in source: Source) -> Source.File? {
    guard !path.utf8.starts(with: "/".utf8), !path.utf8.starts(with: "~".utf8) else { return nil }
    var parts = folders
    for part in path.split(separator: "/") where part != "." {
      if part == ".." {
        guard parts.popLast() != nil else { return nil }
      } else {
        parts.append(String(part))
      }
    }
    let whole = parts.joined(separator: "/")
    return source.files.first { $0.path.utf8.elementsEqual(whole.utf8) }
  }
}
