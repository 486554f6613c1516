public import VaultWire

/// The files to read, and the way to ask for the secrets that they need.
public struct Source {
  /// A file with all its bytes.
  public struct File: Sendable {
    /// The path relative to the folder that is imported, or the name of the one file.
    public let path: String
    public let bytes: [UInt8]
    /// The time of the last change in Unix seconds; nil if nothing is known.
    public let modified: Int64?

    public init(_ path: String, _ bytes: [UInt8], modified: Int64? = nil) {
      (self.path, self.bytes, self.modified) = (path, bytes, modified)
    }

    /// The part of the path after the last slash.
    public var name: String { path.split(separator: "/").last.map(String.init) ?? path }
  }

  /// The most bytes of memory for the derivation of a key, unless a person allows more.
  public static let usualKDFMemory = ImportCall.kdfMemory.lowerBound

  public let files: [File]
  /// The most bytes of memory for the derivation of a key.
  public let kdfMemory: UInt64
  /// Asks `vault` for a secret; nil if there is none.
  private let ask: (ImportQuestion) throws(ImportFailure) -> [UInt8]?

  public init(
    _ files: [File], kdfMemory: UInt64 = Source.usualKDFMemory,
    ask: @escaping (ImportQuestion) throws(ImportFailure) -> [UInt8]?
  ) {
    (self.files, self.kdfMemory, self.ask) = (files, kdfMemory, ask)
  }

  /// The one file of a format that consists of one file.
  ///
  /// - Throws: ``ImportFailure`` if there are more, or none.
  public func onlyFile() throws(ImportFailure) -> File {
    guard let file = files.first, files.count == 1 else {
      throw ImportFailure(.unsupported, "this format is one file, and there are \(files.count)")
    }
    return file
  }

  /// Asks for a secret; nil if there is none.
  public func secret(_ kind: ImportQuestion.Kind, of file: File, isAgain: Bool = false) throws(ImportFailure)
    -> [UInt8]?
  {
    try ask(ImportQuestion(kind, file: file.path, isAgain: isAgain))
  }
}

/// The place into which a reader puts what it finds.
public protocol EntrySink {
  /// Tells the format, before the first entry.
  mutating func begin(_ format: ImportedFormat) throws(ImportFailure)
  /// Takes an entry.
  mutating func add(_ entry: Entry) throws(ImportFailure)
}

/// A reader of one format.
public protocol SourceReader {
  /// Decides whether the files look like this format, without a secret and without reading all of them.
  static func recognizes(_ source: Source) -> Bool
  /// Reads the files: calls `begin` once, and then `add` for each entry, in the order of the source.
  static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure)
}
