public import VaultWire

/// The reader of backups of 2FAS, in the clear and encrypted with a password.
///
/// The format is that of data/services/src/main/java/com/twofasapp/data/services/domain/BackupContent.kt and its
/// neighbors in twofas/2fas-android.
public enum TwoFASReader: SourceReader {
  private static let versions: ClosedRange<Int64> = 1...4
  /// The members of the file that describe it and its program.
  private static let ofFile: Set = [
    "services", "groups", "updatedAt", "schemaVersion", "appVersionCode", "appVersionName", "appOrigin",
    "servicesEncrypted", "reference",
  ]

  public static func recognizes(_ source: Source) -> Bool {
    let (names, isArray) = AuthenticatorFile.names(source)
    return !isArray && names.isSuperset(of: ["services", "schemaVersion"])
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try AuthenticatorFile.only(source)
    let backup = try AuthenticatorFile.value(file.bytes)
    guard let version = backup["schemaVersion"]?.integer else {
      throw ImportFailure(.unknown, "the file has no 'schemaVersion', as a backup of 2FAS has")
    }
    guard versions.contains(version) else {
      throw ImportFailure(
        .unsupported, "the backup has schema version \(version), and versions up to \(versions.upperBound) are read")
    }
    guard let sealed = backup["servicesEncrypted"]?.string, !sealed.isEmpty else {
      return try send(backup["services"], backup, version, "", into: &sink)
    }
    let lock = try TwoFASLock(sealed)
    let text = try AuthenticatorFile.open(file, of: source) { password throws(ImportFailure) in
      try lock.open(password)
    }
    try send(AuthenticatorFile.value(text), backup, version, ", PBKDF2 with 10000 iterations", into: &sink)
  }

  private static func send(
    _ services: JSONValue?, _ backup: JSONValue, _ version: Int64, _ lock: String, into sink: inout some EntrySink
  ) throws(ImportFailure) {
    guard let services, services.isArray else { throw ImportFailure(.damaged, "the backup has no 'services'") }
    try sink.begin(ImportedFormat(name: "2fas", detail: "backup of 2FAS, schema version \(version)\(lock)"))
    var groups: [String: String] = [:]
    for group in backup["groups"]?.elements ?? [] {
      if let id = group["id"]?.string { groups[id] = group["name"]?.string }
    }
    for (number, service) in services.elements.enumerated() {
      guard service.isObject else { throw ImportFailure(.damaged, "service \(number + 1) is no object") }
      try sink.add(TwoFASEntry(service, in: groups).entry)
    }
    var others = Entry(of: [], named: "2FAS")
    for member in backup.members where !ofFile.contains(member.name) { others.addUnknown(member.name, member.value) }
    if !others.fields.isEmpty { try sink.add(others) }
  }
}
