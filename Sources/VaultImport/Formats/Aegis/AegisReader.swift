public import VaultWire

/// The reader of exports and backups of Aegis, in the clear and encrypted with a password.
///
/// The format is that of docs/vault.md in beemdevelopment/Aegis.
public enum AegisReader: SourceReader {
  /// The latest version of the file, and of its content.
  private static let latest = (file: Int64(1), content: Int64(3))

  public static func recognizes(_ source: Source) -> Bool {
    let (names, isArray) = AuthenticatorFile.names(source)
    return !isArray && names.isSuperset(of: ["version", "header", "db"])
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try AuthenticatorFile.only(source)
    let outer = try AuthenticatorFile.value(file.bytes)
    guard let header = outer["header"], let content = outer["db"] else {
      throw ImportFailure(.unknown, "the file has no 'header' or no 'db', as one of Aegis has")
    }
    try check(outer["version"], latest: latest.file, "the file")
    guard let sealed = content.string else { return try send(content, "", into: &sink) }
    let lock = try AegisLock(header, sealed, mostMemory: source.kdfMemory)
    let text = try AuthenticatorFile.open(file, of: source) { password throws(ImportFailure) in
      try lock.open(password)
    }
    try send(AuthenticatorFile.value(text), ", \(lock.detail)", into: &sink)
  }

  private static func check(_ version: JSONValue?, latest: Int64, _ what: String) throws(ImportFailure) {
    guard let version = version?.integer else { throw ImportFailure(.damaged, "\(what) has no version") }
    guard (1...latest).contains(version) else {
      throw ImportFailure(.unsupported, "\(what) is of version \(version), and versions up to \(latest) are read")
    }
  }

  private static func send(
    _ content: JSONValue, _ lock: String, into sink: inout some EntrySink
  ) throws(ImportFailure) {
    try check(content["version"], latest: latest.content, "the content")
    guard let entries = content["entries"], entries.isArray else {
      throw ImportFailure(.damaged, "the file has no 'entries'")
    }
    try sink.begin(ImportedFormat(name: "aegis", detail: "vault of Aegis\(lock)"))
    let groups = groups(content["groups"])
    for (number, entry) in entries.elements.enumerated() {
      guard entry.isObject else { throw ImportFailure(.damaged, "entry \(number + 1) is no object") }
      try sink.add(AegisEntry(entry, in: groups).entry)
    }
    var others = Entry(of: [], named: "Aegis")
    for member in content.members where !["version", "entries", "groups"].contains(member.name) {
      others.addUnknown(member.name, member.value)
    }
    if !others.fields.isEmpty { try sink.add(others) }
  }

  /// The names of the groups by their ids.
  private static func groups(_ list: JSONValue?) -> [String: String] {
    var groups: [String: String] = [:]
    for group in list?.elements ?? [] {
      if let id = group["uuid"]?.string { groups[id] = group["name"]?.string }
    }
    return groups
  }
}
