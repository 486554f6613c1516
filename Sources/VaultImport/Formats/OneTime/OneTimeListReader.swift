public import VaultWire

/// The reader of texts with one `otpauth://` URI in each line, as many authenticators export them.
public enum OneTimeListReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = try? source.onlyFile() else { return false }
    return OneTimeLines.begins(file, with: "otpauth://")
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let lines = try OneTimeLines(source.onlyFile())
    try lines.send(ImportedFormat(name: "otpauth", detail: "list of otpauth URIs"), into: &sink)
  }
}

extension OneTimeLines {
  /// Sends the entries.
  func send(_ format: ImportedFormat, into sink: inout some EntrySink) throws(ImportFailure) {
    guard !entries.isEmpty else { throw ImportFailure(.unknown, "the text has no line with a one-time secret") }
    try sink.begin(format)
    for entry in entries { try sink.add(entry) }
  }
}
