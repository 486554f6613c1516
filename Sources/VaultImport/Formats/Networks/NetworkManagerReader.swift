public import VaultWire

/// The reader of NetworkManager's connections (nm-settings-keyfile(5)), one by itself or the folder
/// `/etc/NetworkManager/system-connections`.
public enum NetworkManagerReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool { source.files.contains { connection($0) != nil } }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let count = source.files.count { connection($0) != nil }
    guard count > 0 else {
      if source.files.count == 1 { _ = try Keyfile(source.files[0].bytes) }
      throw ImportFailure(.unknown, "no file is a connection of NetworkManager")
    }
    let connections = count == 1 ? "connection" : "\(count) connections"
    try sink.begin(ImportedFormat(name: "networkmanager", detail: "\(connections) of NetworkManager"))
    var others = OtherFiles()
    for file in source.files {
      if let lines = connection(file) {
        try sink.add(NetworkConnection(lines, file).entry)
      } else {
        others.add(file, "it is no connection of NetworkManager")
      }
    }
    try others.send(into: &sink)
  }

  /// The lines of a connection; nil for any other file.
  private static func connection(_ file: Source.File) -> Keyfile? {
    guard file.mentions("[connection]"), let lines = try? Keyfile(file.bytes),
      lines.text("type", in: "connection") != nil
    else { return nil }
    return lines
  }
}
