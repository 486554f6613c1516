public import VaultWire

/// The reader of backups of andOTP, in the clear and encrypted with a password.
///
/// The format is that of Database/Entry.java and Tasks/EncryptedRestoreTask.java in andOTP/andOTP.
public enum AndOTPReader: SourceReader {
  /// The ending that andOTP gives to encrypted backups.
  private static let ending = ".json.aes"

  public static func recognizes(_ source: Source) -> Bool {
    guard let file = source.files.first, source.files.count == 1 else { return false }
    guard !isEncrypted(file) else { return file.name.hasSuffix(ending) || AndOTPLock.isUsual(file.bytes) }
    return AuthenticatorFile.names(source).members.isSuperset(of: ["secret", "label", "type", "digits"])
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try AuthenticatorFile.only(source)
    guard isEncrypted(file) else { return try send(AuthenticatorFile.value(file.bytes), "", into: &sink) }
    var lock = try AndOTPLock(file.bytes)
    let text = try AuthenticatorFile.open(file, of: source) { password throws(ImportFailure) in
      try lock.open(password)
    }
    try send(AuthenticatorFile.value(text), ", \(lock.detail)", into: &sink)
  }

  /// True unless the file begins as JSON does.
  private static func isEncrypted(_ file: Source.File) -> Bool {
    let text = file.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? file.bytes.dropFirst(3) : file.bytes[...]
    guard let first = text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }), first == UInt8(ascii: "[") else {
      return true
    }
    // The first byte of an encrypted file can be any.
    return file.bytes.prefix(64 << 10).contains(0)
  }

  private static func send(
    _ accounts: JSONValue, _ lock: String, into sink: inout some EntrySink
  ) throws(ImportFailure) {
    guard accounts.isArray else { throw ImportFailure(.unknown, "the backup is no array of accounts") }
    try sink.begin(ImportedFormat(name: "andotp", detail: "backup of andOTP\(lock)"))
    for (number, account) in accounts.elements.enumerated() {
      guard account.isObject else { throw ImportFailure(.damaged, "account \(number + 1) is no object") }
      try sink.add(entry(account))
    }
  }

  /// The members that say how the codes are made.
  private static let codes: Set = ["secret", "type", "algorithm", "digits", "period", "counter"]

  private static func entry(_ value: JSONValue) -> Entry {
    var account = AuthenticatorAccount(issuer: value["issuer"]?.string ?? "", name: value["label"]?.string ?? "")
    account.type = value["type"]?.string?.lowercased() ?? account.type
    account.secret = value["secret"]
    account.algorithm = value["algorithm"]
    account.digits = value["digits"]
    account.period = value["period"]
    account.counter = value["counter"]
    var entry = account.entry(members: value.members.filter { codes.contains($0.name) })
    for member in value.members where !codes.contains(member.name) {
      let (name, value) = (member.name, member.value)
      switch name {
      case "issuer", "label": if value.string == nil { entry.addUnknown(name, value) }
      case "tags" where value.isArray:
        for tag in value.elements { if let text = tag.string { entry.put(name, .tag, text) } }
      case "thumbnail": if value.string != "Default" { entry.put(name, .setting, value.string ?? "") }
      case "last_used", "used_frequency": if value.integer != 0 { entry.addUnknown(name, value) }
      default: entry.addUnknown(name, value)
      }
    }
    return entry
  }
}
