internal import VaultBytes
internal import VaultWire

/// An item of a Bitwarden export as it is written. This is the opposite of ``BitwardenItem``.
struct BitwardenItemWriter {
  private let entry: Entry
  /// The id of the folder; nil for an entry in no folder.
  private let folder: String?

  init(_ entry: Entry, folder: String?) { (self.entry, self.folder) = (entry, folder) }

  func write(to writer: inout JSONWriter) throws(ImportFailure) {
    writer.beginObject()
    if !entry.id.isEmpty { writer.field("id", entry.id) }
    writer.key("folderId")
    if let folder { writer.string(folder) } else { writer.null() }
    writer.field("type", Int(kind.rawValue))
    writer.field("name", entry.title)
    let notes = entry.fields.having(.note).first.map { text($0.value) }
    if let notes { writer.field("notes", notes) }
    writer.field("favorite", false)
    writer.field("reprompt", 0)
    if let time = entry.fields.time(.created) { writer.field("creationDate", BitwardenTime.text(time)) }
    if let time = entry.fields.time(.modified) { writer.field("revisionDate", BitwardenTime.text(time)) }
    writeKind(to: &writer)
    writeCustom(to: &writer)
    writeHistory(to: &writer)
    writer.endObject()
  }

  private func text(_ value: [UInt8]) -> String { String(decoding: value, as: UTF8.self) }

  /// The type of the item. A document is written whole, under the name of its type.
  private var kind: BitwardenItem.Kind {
    switch entry.kind {
    case .login, .oneTime, .wifi, .value, .file, .token, .pairing: .login
    case .note: .note
    case .key, .sshKey: .key
    case .document: entry.fields.having(.document).first?.name == "identity" ? .identity : .card
    }
  }

  private func writeKind(to writer: inout JSONWriter) {
    switch kind {
    case .login: writeLogin(to: &writer)
    case .note:
      writer.key("secureNote")
      writer.raw(#"{"type":0}"#)
    case .key:
      writer.key("sshKey")
      writer.beginObject()
      for field in entry.fields where Self.isOfKey(field) {
        writer.key(field.name)
        writer.string(text(field.value))
      }
      writer.endObject()
    case .card, .identity, .bankAccount, .driversLicense, .passport:
      for field in entry.fields.having(.document).prefix(1) {
        writer.key(kind == .identity ? "identity" : "card")
        // Bytes have no padding. `vault` has checked that they are JSON.
        writer.raw(unsafe field.value.span.bytes)
      }
    }
  }

  private func writeLogin(to writer: inout JSONWriter) {
    writer.key("login")
    writer.beginObject()
    for (name, role) in [("username", ImportedField.Role.username), ("password", .password), ("totp", .oneTime)] {
      guard let field = entry.fields.having(role).first else { continue }
      writer.key(name)
      writer.string(text(field.value))
    }
    writer.key("uris")
    writer.beginArray()
    for field in entry.fields.having(.url) {
      writer.beginObject()
      writer.key("match")
      writer.null()
      writer.field("uri", text(field.value))
      writer.endObject()
    }
    writer.endArray()
    writer.key("fido2Credentials")
    writer.raw("[]")
    writer.endObject()
  }

  /// True for a member of a key.
  private static func isOfKey(_ field: Field) -> Bool {
    field.role == .password || field.role == .text && ["publicKey", "keyFingerprint"].contains(field.name)
  }

  // MARK: Custom fields and the history

  /// The custom fields: texts, and hidden ones for secrets.
  private func writeCustom(to writer: inout JSONWriter) {
    writer.key("fields")
    writer.beginArray()
    for field in entry.fields.having(.text, .secret) where kind != .key || !Self.isOfKey(field) {
      writer.beginObject()
      writer.field("name", field.name)
      writer.field("value", text(field.value))
      writer.field("type", field.role == .secret ? 1 : 0)
      writer.key("linkedId")
      writer.null()
      writer.endObject()
    }
    writer.endArray()
  }

  /// The earlier passwords, the newest first, and those of hidden fields behind their names
  /// (updateModelfromExistingCipher in cipher.service.ts).
  private func writeHistory(to writer: inout JSONWriter) {
    writer.key("passwordHistory")
    writer.beginArray()
    for field in entry.fields.earlier.reversed() {
      writer.beginObject()
      writer.key("lastUsedDate")
      if let time = field.time { writer.string(BitwardenTime.text(time)) } else { writer.null() }
      let name = field.role == .oldField ? "\(field.name): " : ""
      writer.field("password", name + text(field.value))
      writer.endObject()
    }
    writer.endArray()
  }
}

/// The times in a Bitwarden export.
enum BitwardenTime {
  /// Writes Unix seconds as `2024-05-06T07:08:09.000Z`, as ECMA-262 does; the first second of 1970 in place of a time
  /// outside of the years 1970 to 9999.
  static func text(_ unix: Int64) -> String {
    let unix = (0...253_402_300_799).contains(unix) ? unix : 0
    let (days, second) = (unix / 86_400, unix % 86_400)
    // `civil_from_days` of Howard Hinnant (https://howardhinnant.github.io/date_algorithms.html): years begin in March.
    let shifted = days + 719_468
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    let year = yearOfEra + shifted / 146_097 * 400 + (month <= 2 ? 1 : 0)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfYear - (153 * part + 2) / 5 + 1, 2))"
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(time).000Z"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
