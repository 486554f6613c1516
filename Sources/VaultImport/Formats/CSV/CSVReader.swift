public import VaultWire

/// The reader of comma-separated values with a header that names the columns, as browsers and password managers export
/// them. The header tells which program wrote the file.
public enum CSVReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = try? source.onlyFile() else { return false }
    return (try? CSVTable(file.bytes, header: file.bytes.prefix(CSVTable.longestHeader))) != nil
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let bytes = try source.onlyFile().bytes
    var table = try CSVTable(bytes, header: bytes.prefix(CSVTable.longestHeader))
    try sink.begin(ImportedFormat(name: "csv", detail: "CSV of \(table.program)"))
    while let row = try table.next() {
      if let entry = CSVEntry(row, of: table).entry { try sink.add(entry) }
    }
  }
}
