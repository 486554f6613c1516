internal import VaultWire

/// The reader of a folder with several files of credentials, such as a home folder's `.netrc`, `.npmrc` and `.ssh`.
/// Files of other names are listed.
enum DotfilesReader: SourceReader {
  /// The formats, in the order in which they are tried for a file.
  private static var formats: [any CredentialFile.Type] {
    [
      SSHFolderReader.self, NetrcReader.self, PGPassReader.self, GitCredentialsReader.self, NpmrcReader.self,
      PypircReader.self, KubeconfigReader.self, DockerReader.self, AWSReader.self, EnvironmentReader.self,
    ]
  }

  /// The format of a file by its name; nil if it is that of no known file.
  private static func format(of file: Source.File) -> (any CredentialFile.Type)? { formats.first { $0.isNamed(file) } }

  /// True if a file has the name of a known file.
  static func knows(_ source: Source) -> Bool { source.files.contains { format(of: $0) != nil } }

  /// True if files have the names of several formats, so that no reader of one format would take them all.
  static func areOfSeveral(_ source: Source) -> Bool {
    guard source.files.count > 1 else { return false }
    var found: Set<FileFormat> = []
    for file in source.files {
      if let format = format(of: file) { found.insert(format.format) }
      if found.count > 1 { return true }
    }
    return false
  }

  static func recognizes(_ source: Source) -> Bool {
    // A folder of one format belongs to the reader of that format.
    source.files.count > 1 && knows(source) && !formats.contains { source.files.allSatisfy($0.isNamed) }
  }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let formats = formats
    var groups: [[Source.File]] = formats.map { _ in [] }
    var others = OtherFiles()
    for file in source.files {
      if let index = formats.firstIndex(where: { $0.isNamed(file) }) {
        groups[index].append(file)
      } else {
        others.add(file, "its name is that of no known file of credentials")
      }
    }
    let names = zip(formats, groups).filter { !$0.1.isEmpty }.map { $0.0.format.rawValue }
    guard !names.isEmpty else { throw ImportFailure(.unknown, "no file has the name of a known file of credentials") }
    var found = FoundEntries()
    for (format, files) in zip(formats, groups) { try read(files, format, into: &found) }
    try sink.begin(ImportedFormat(name: "dotfiles", detail: "files of credentials: \(names.joined(separator: ", "))"))
    for entry in found.entries + others.entries { try sink.add(entry) }
  }

  /// Reads the files of one format. A file that is damaged is refused, and does not keep the others out.
  private static func read(
    _ files: [Source.File], _ format: any CredentialFile.Type, into found: inout FoundEntries
  ) throws(ImportFailure) {
    guard !files.isEmpty else { return }
    let count = found.entries.count
    do throws(ImportFailure) { return try format.read(files, into: &found) } catch { found.cut(to: count) }
    for file in files {
      let count = found.entries.count
      do throws(ImportFailure) { try format.read([file], into: &found) } catch {
        found.cut(to: count)
        try refuse(file, error.reason, in: &found)
      }
    }
  }

  /// Refuses a known file, whose credentials only the source has then.
  private static func refuse(
    _ file: Source.File, _ reason: String, in found: inout FoundEntries
  ) throws(ImportFailure) {
    var entry = Entry(settingsOf: file)
    entry.refuse(file.name, .secret, size: file.bytes.count, reason)
    try found.add(entry)
  }
}
