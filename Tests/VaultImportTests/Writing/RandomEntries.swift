import VaultWire

@testable import VaultImport

/// Random entries in the form that an export makes for a format: with the names of fields of that format.
struct RandomEntries {
  private var random: SplitMix
  private let format: ExportOrder.Format

  init(_ format: ExportOrder.Format, seed: UInt64) { (random, self.format) = (SplitMix(state: seed), format) }

  private var isKDBX: Bool { format == .kdbx }

  /// Up to 12 entries in some folders.
  mutating func entries() -> [Entry] { (0..<Int.random(in: 0...12, using: &random)).map { _ in entry() } }

  private mutating func entry() -> Entry {
    let depth = Int.random(in: 0...3, using: &random)
    let folder = (0..<depth).map { _ in pick(["Mail", "Bank", "Größe", "a & b", "日本"]) }
    let id = !isKDBX || chance(2) ? "" : (0..<32).map { _ in pick(Array("0123456789abcdef").map(String.init)) }.joined()
    let kinds: [ImportedEntry.Kind] =
      isKDBX ? [.login, .note, .oneTime, .value, .file, .wifi] : [.login, .note, .sshKey, .document]
    let kind = pick(kinds)
    var entry = Entry(kind, id: id, folder: folder, title: word())
    addMain(to: &entry)
    if isKDBX || kind == .login { addLogin(to: &entry) }
    if kind != .note, chance(2) { entry.add(isKDBX ? "Notes" : "notes", .note, text()) }
    for number in 0..<Int.random(in: 0...3, using: &random) {
      let role = pick([ImportedField.Role.text, .secret])
      entry.add("field \(number)", role, role == .text ? word() : text())
    }
    if isKDBX { addOfKDBX(to: &entry) }
    entry.add("created", .created, String(Int64.random(in: 0...4_000_000_000, using: &random)))
    if chance(2) { entry.add("modified", .modified, String(Int64.random(in: 0...4_000_000_000, using: &random))) }
    addHistory(to: &entry)
    if isKDBX { mark(&entry) }
    return entry
  }

  /// Marks some values, of which a password may be empty, and some expiries.
  private mutating func mark(_ entry: inout Entry) {
    for index in entry.fields.indices where chance(4) {
      switch entry.fields[index].role {
      case .password:
        entry.fields[index].mark = "wifi"
        let hasHistory = entry.fields.contains { $0.role == .oldPassword }
        if chance(2), !hasHistory { (entry.fields[index].value, entry.fields[index].size) = ([], 0) }
      case .secret, .note, .oneTime, .attachment: entry.fields[index].mark = "api-key"
      case .expires: entry.fields[index].mark = ImportedField.enforced
      case .text: entry.fields[index].mark = ImportedField.attribute
      case .title, .folder, .identifier, .username, .url, .tag, .document, .created, .modified, .oldPassword,
        .oldField, .setting:
        break
      }
    }
  }

  private mutating func addMain(to entry: inout Entry) {
    switch entry.kind {
    case .login where isKDBX, .wifi: entry.add("Password", .password, text())
    case .login: entry.add("password", .password, text())
    case .note: entry.add(isKDBX ? "Notes" : "notes", .note, text())
    case .oneTime: entry.add("otp", .oneTime, "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP")
    case .sshKey: entry.add("privateKey", .password, "-----BEGIN\n\(text())")
    case .document:
      entry.fields.append(
        Field("card", .document, Array(#"{"number":"4000","code":"1"}"#.utf8), mediaType: "application/json"))
    case .value: entry.add("Private key", .secret, text())
    case .key, .token, .pairing: entry.add("password", .password, text())
    case .file: entry.fields.append(Field("main.bin", .attachment, Array(text().utf8)))
    }
  }

  private mutating func addLogin(to entry: inout Entry) {
    if chance(2) { entry.add(isKDBX ? "UserName" : "username", .username, word()) }
    if chance(2) { entry.add(isKDBX ? "URL" : "uri", .url, "https://\(word()).example/") }
    if !isKDBX, chance(3) { entry.add("totp", .oneTime, "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP") }
  }

  private mutating func addOfKDBX(to entry: inout Entry) {
    for number in 0..<Int.random(in: 0...2, using: &random) {
      let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      entry.fields.append(Field("file \(number).bin", .attachment, bytes))
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) { entry.add("Tags", .tag, pick(["home", "work", "ä ö"])) }
    if chance(4) { entry.add("expires", .expires, String(Int64.random(in: 0...9_000_000_000, using: &random))) }
  }

  /// Adds earlier values with times, each other than the next one.
  private mutating func addHistory(to entry: inout Entry) {
    for field in entry.fields {
      let role: ImportedField.Role
      switch field.role {
      case .password where entry.kind == .login || isKDBX: role = .oldPassword
      case .secret where isKDBX || entry.kind == .login: role = .oldField
      case .note where isKDBX: role = .oldField
      default: continue
      }
      for number in 0..<Int.random(in: 0...3, using: &random) where chance(2) {
        entry.add(field.name, role, "old \(number) \(text())", time: Int64(1_000_000 + number * 1000))
      }
    }
  }

  // MARK: Choices

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

  private mutating func pick<T>(_ all: [T]) -> T { all[Int.random(in: 0..<all.count, using: &random)] }

  private mutating func word() -> String {
    pick(["GitHub", "a", "x<y>&\"z\"", "Zürich 🔑", " spaces ", "]]>", "tab\u{FFFD}", "e\u{301}", "&amp;"])
  }

  /// A text that may have any character.
  private mutating func text() -> String {
    let parts = ["secret", "\n", "\r\n", "\t", "<x/>", "&", "\"", "\\", "🔑", "{", "}", "\u{1}", "\u{FFFE}", "'", " "]
    return "v" + (0..<Int.random(in: 0...8, using: &random)).map { _ in pick(parts) }.joined()
  }
}

/// The generator SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014), so that
/// a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
