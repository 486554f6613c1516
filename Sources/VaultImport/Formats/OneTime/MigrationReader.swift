public import VaultWire

/// The reader of exports of Google Authenticator: one `otpauth-migration://` URI in each line.
public enum MigrationReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = try? source.onlyFile() else { return false }
    return OneTimeLines.begins(file, with: MigrationPart.prefix)
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let lines = try OneTimeLines(source.onlyFile())
    let missing = lines.parts.missing
    let detail = "export of Google Authenticator" + (missing.isEmpty ? "" : ", of which \(missing)")
    try lines.send(ImportedFormat(name: "otpauth-migration", detail: detail), into: &sink)
  }
}
