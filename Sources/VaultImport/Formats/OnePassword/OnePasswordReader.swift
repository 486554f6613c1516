public import VaultWire

/// The reader of 1Password's exports (1PUX, https://support.1password.com/1pux-format): a zip archive, or the folder
/// into which somebody has unpacked it.
public enum OnePasswordReader: SourceReader {
  public static func recognizes(_ source: Source) -> Bool {
    guard let file = source.files.first, source.files.count == 1 else {
      return source.files.contains { OnePasswordFiles.path(of: $0) == OnePasswordFiles.data }
        && source.files.contains { OnePasswordFiles.path(of: $0) == OnePasswordFiles.attributes }
    }
    guard ZipArchive.isLikely(file.bytes) else { return false }
    guard let archive = try? ZipArchive(file.bytes) else {
      // A damaged export is one all the same, and its reader can say so.
      return file.mentions("export.data") || file.mentions("export.attributes")
    }
    return archive.members.contains { $0.name == OnePasswordFiles.data }
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let files = try OnePasswordFiles(source)
    guard let data = try files.content(OnePasswordFiles.data) else {
      throw ImportFailure(.unknown, "there is no file export.data, which an export of 1Password has")
    }
    let export = try OnePasswordExport(data)
    var rest = Entry(of: [], named: "1Password export")
    let version = try version(of: files, &rest)
    let id = export.accounts.count == 1 ? export.accounts[0]["uuid"]?.string ?? "" : ""
    let source = id.isEmpty ? "" : "1pux:\(id)"
    try sink.begin(
      ImportedFormat(name: FileFormat.onePassword.rawValue, detail: "1Password export\(version)", source: source))
    for vault in export.vaults {
      guard var items = vault.items else { continue }
      let folder = export.folder(of: vault)
      try items.arrayOrNull { reader throws(ImportFailure) in
        try sink.add(OnePasswordItem(try reader.value(), in: folder, files).entry)
      }
    }
    try export.addRest(to: &rest, files)
    try files.addUnused(to: &rest)
    if !rest.fields.isEmpty { try sink.add(rest) }
  }

  /// The version of the form in words. The rest of what the export says of itself becomes settings.
  private static func version(of files: OnePasswordFiles, _ rest: inout Entry) throws(ImportFailure) -> String {
    guard let bytes = try files.content(OnePasswordFiles.attributes) else { return "" }
    let facts = try JSONLeaves.value(bytes)
    for member in facts.members where member.name != "version" { rest.addSetting(member.name, member.value) }
    return facts["version"]?.integer.map { ", version \($0)" } ?? ""
  }
}
