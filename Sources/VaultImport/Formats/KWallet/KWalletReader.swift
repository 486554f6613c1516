internal import VaultBytes
public import VaultWire

/// The reader of a wallet of KDE. `vault` gets the entries by kwallet-query(1); each is a file here, whose path is
/// made of its folder and its name, and whose content is what kwallet-query has printed.
///
/// kwallet-query (src/runtime/kwallet-query/src/querydriver.cpp in KDE/kwallet) prints a password without its blank
/// lines, each line with a line break after it, and a map as JSON with an empty line after it.
public enum KWalletReader: SourceReader {
  /// The most bytes of a map.
  private static let longestMap = 16 << 20

  /// A wallet has no form of its own by which it could be recognized.
  public static func recognizes(_ source: Source) -> Bool { false }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let entries = source.files.count == 1 ? "1 entry" : "\(source.files.count) entries"
    try sink.begin(ImportedFormat(name: "kwallet", detail: "wallet of KDE, \(entries)"))
    for file in source.files { try sink.add(entry(file)) }
  }

  private static func entry(_ file: Source.File) throws(ImportFailure) -> Entry {
    let parts = file.path.utf8.split(
      separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false
    ).map { part in Array(part).withSpan { PercentEscape.text($0, 0..<$0.byteCount) } }
    guard parts.count == 2 else { throw ImportFailure(.damaged, "an entry of the wallet has no folder") }
    let (folder, name) = (parts[0], parts[1])
    var entry = Entry(.login, id: "\(folder)/\(name)", folder: folder.isEmpty ? [] : [folder], title: name)
    if isMap(file.bytes), let map = map(file.bytes) {
      for (member, role) in zip(map, roles(map.map(\.name))) { add(member, role, to: &entry) }
    } else {
      let value = file.bytes.last == 0x0A ? file.bytes.dropLast() : file.bytes[...]
      if value.contains(0x0A) || !file.bytes.withSpan({ $0.isText }) { entry.kind = .value }
      entry.put("password", .password, value)
    }
    return entry
  }

  /// True for what only a map is printed as: an object with an empty line after it.
  private static func isMap(_ bytes: [UInt8]) -> Bool {
    bytes.first == UInt8(ascii: "{") && bytes.suffix(3).elementsEqual("}\n\n".utf8) && bytes.count <= longestMap
  }

  private static func map(_ bytes: [UInt8]) -> [JSONValue.Member]? {
    guard let value = try? JSONLeaves.value(bytes), value.isObject else { return nil }
    return value.members
  }

  private static func add(_ member: JSONValue.Member, _ role: ImportedField.Role, to entry: inout Entry) {
    guard let text = member.value.string else { return entry.addUnknown(member.name, member.value) }
    if role == .oneTime { entry.putOneTime(member.name, text) } else { entry.put(member.name, role, text) }
  }

  /// The roles of the values of a map. A wallet keeps secrets, so a value of an unknown name is one.
  private static func roles(_ names: [String]) -> [ImportedField.Role] {
    zip(names, PassKey.roles(names, hasPassword: false)).map { name, role in
      role == .text && PassKey(name) == nil ? .secret : role
    }
  }
}
