internal import VaultWire

/// A format of the files in which developers' programs keep credentials, each under a name of its own, such as
/// `.netrc`. A source is one such file or a folder of them.
protocol CredentialFile: SourceReader {
  static var format: FileFormat { get }
  /// The format in words.
  static var detail: String { get }

  /// Decides whether a file of a folder is in the format, above all by its name.
  static func isNamed(_ file: Source.File) -> Bool
  /// Decides whether a file of any name looks like the format.
  static func isAlike(_ file: Source.File) -> Bool
  /// Decides whether a file or all files of a folder look like the format.
  static func areAlike(_ source: Source) -> Bool
  /// Reads files of the format, which belong together.
  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure)
}

extension CredentialFile {
  static func recognizes(_ source: Source) -> Bool { areAlike(source) }

  /// True for one file that has the name or the look of the format, or for a folder of nothing but such names.
  static func areAlike(_ source: Source) -> Bool {
    guard source.files.count == 1 else { return !source.files.isEmpty && source.files.allSatisfy(isNamed) }
    return source.files.allSatisfy { isNamed($0) || isAlike($0) }
  }

  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    var found = FoundEntries()
    try read(source.files, into: &found)
    try sink.begin(ImportedFormat(name: format.rawValue, detail: detail))
    for entry in found.entries { try sink.add(entry) }
  }

  /// Reads the files one by one. A failure names the file if there are several.
  static func read(
    each files: [Source.File], into found: inout FoundEntries,
    _ read: (Source.File, inout FoundEntries) throws(ImportFailure) -> Void
  ) throws(ImportFailure) {
    for file in files {
      do throws(ImportFailure) { try read(file, &found) } catch {
        throw files.count == 1 ? error : ImportFailure(error.code, "\(file.path): \(error.reason)")
      }
    }
  }
}

extension Source.File {
  /// The most bytes of a file of credentials that is read into memory in parts.
  static let longestText = 4 << 20

  /// True if the file has one of the names.
  func isNamed(_ names: String...) -> Bool { names.contains(name) }

  /// The lines of the text.
  ///
  /// - Throws: ``ImportFailure`` if the file is too large to be one of credentials.
  func lines() throws(ImportFailure) -> TextLines {
    guard bytes.count <= Self.longestText else {
      throw ImportFailure(.tooLarge, "a file of this format has at most \(Self.longestText >> 20) MiB")
    }
    return TextLines(bytes)
  }

  /// The lines of the beginning, to see what the file looks like.
  var firstLines: TextLines {
    let start = bytes.prefix(64 << 10)
    // The last line may be cut off.
    return TextLines(start.count < bytes.count ? Array(start.prefix(through: start.lastIndex(of: 0x0A) ?? 0)) : bytes)
  }
}
