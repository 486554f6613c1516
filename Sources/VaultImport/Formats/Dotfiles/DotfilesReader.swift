internal import VaultWire

/// The reader of a folder with several files of credentials, such as a home folder's `.netrc`, `.npmrc` and `.ssh`.
/// Files of other names are listed.
enum DotfilesReader: SourceReader {
  /// The formats, in the order in which they are tried for a file.
  private static var formats: [any CredentialFile.Type] {
    [
      SSHFolderReader.self, NetrcReader.self, PGPassReader.self, GitCredentialsReader.self, NpmrcReader.self,
      PypircReader.self, DockerReader.self, AWSReader.self, EnvironmentReader.self,
    ]
  }

  static func recognizes(_ source: Source) -> Bool {
    // A folder of one format belongs to the reader of that format.
    source.files.count > 1 && source.files.contains { file in formats.contains { $0.isNamed(file) } }
      && !formats.contains { source.files.allSatisfy($0.isNamed) }
  }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let formats = formats
    var groups: [[Source.File]] = formats.map { _ in [] }
    var others: [Source.File] = []
    for file in source.files {
      if let index = formats.firstIndex(where: { $0.isNamed(file) }) {
        groups[index].append(file)
      } else {
        others.append(file)
      }
    }
    var found = FoundEntries()
    for (format, files) in zip(formats, groups) { try read(files, format, into: &found) }
    for file in others { try refuse(file, "its name is that of no known file of credentials", in: &found) }
    let names = zip(formats, groups).filter { !$0.1.isEmpty }.map { $0.0.format.rawValue }
    guard !names.isEmpty else { throw ImportFailure(.unknown, "no file has the name of a known file of credentials") }
    try sink.begin(ImportedFormat(name: "dotfiles", detail: "files of credentials: \(names.joined(separator: ", "))"))
    for entry in found.entries { try sink.add(entry) }
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

  private static func refuse(
    _ file: Source.File, _ reason: String, in found: inout FoundEntries
  ) throws(ImportFailure) {
    var entry = Entry(settingsOf: file)
    entry.addSetting(file.name, size: file.bytes.count, reason)
    try found.add(entry)
  }
}
