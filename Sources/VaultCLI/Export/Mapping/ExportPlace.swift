internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The place of an item's value in an entry of another program.
struct ExportPlace {
  let kind: ImportedEntry.Kind
  let name: String
  let role: ImportedField.Role
  var mediaType: String?

  /// The reason why an entry of the format cannot hold an item's value; nil if it can.
  static func reason(_ item: ExportedItem, _ form: ExportForm) -> String? {
    if item.value.count == 0 { return form.hasMarks ? nil : "its value is empty, so an entry would say nothing" }
    return item.isText || form.hasFiles ? nil : "the format cannot hold its value, which is not text"
  }

  private static let key = "Private key"
  private static let certificate = "Certificate"

  /// The place of a main item's value; nil if the format has none for it.
  static func main(_ item: ExportedItem, _ form: ExportForm) -> ExportPlace? {
    guard item.isText else { return file(item, form) }
    switch item.kind {
    case .password, .apiKey, .deviceToken, .pairingCode:
      return ExportPlace(kind: .login, name: form.password, role: .password)
    case .wifi: return ExportPlace(kind: form.hasFiles ? .wifi : .login, name: form.password, role: .password)
    case .totp: return ExportPlace(kind: form.hasFiles ? .oneTime : .login, name: form.oneTime, role: .oneTime)
    case .note: return ExportPlace(kind: .note, name: form.note, role: .note)
    case .sshKey: return sshKey(item, form)
    case .tlsKey: return text(key, form)
    case .certificate: return text(certificate, form)
    case .blob: return file(item, form)
    }
  }

  private static func sshKey(_ item: ExportedItem, _ form: ExportForm) -> ExportPlace {
    switch form {
    case .kdbx: text(key, form)
    case .bitwarden:
      item.publicKey == nil && item.facts.attributes["publicKey"] == nil
        ? text(key, form) : ExportPlace(kind: .sshKey, name: "privateKey", role: .password)
    }
  }

  /// The place of a text of many lines.
  private static func text(_ name: String, _ form: ExportForm) -> ExportPlace {
    switch form {
    case .kdbx: ExportPlace(kind: .value, name: name, role: .secret)
    case .bitwarden: ExportPlace(kind: .note, name: form.note, role: .note)
    }
  }

  private static func file(_ item: ExportedItem, _ form: ExportForm) -> ExportPlace? {
    if form.hasFiles { return ExportPlace(kind: .file, name: item.leaf, role: .attachment) }
    if let name = document(item) {
      return ExportPlace(kind: .document, name: name, role: .document, mediaType: "application/json")
    }
    return item.isText ? text("", form) : nil
  }

  // MARK: Documents of Bitwarden

  /// The members of a card, and of an identity (CardExport and IdentityExport in libs/common/src/models/export of
  /// bitwarden/clients).
  private static let members: [(name: String, members: Set<String>)] = [
    ("card", ["cardholderName", "brand", "number", "expMonth", "expYear", "code"]),
    (
      "identity",
      [
        "title", "firstName", "middleName", "lastName", "address1", "address2", "address3", "city", "state",
        "postalCode", "country", "company", "email", "phone", "ssn", "username", "passportNumber", "licenseNumber",
      ]
    ),
  ]

  /// The type of the Bitwarden item that an import made this item of; nil if it is no document of Bitwarden.
  private static func document(_ item: ExportedItem) -> String? {
    guard item.facts.attributes["media-type"] == "application/json",
      item.mark(ImportKey.source)?.hasPrefix("bitwarden:") == true
    else { return nil }
    return item.value.withBytes { bytes in
      guard let object = try? Frame(parsing: bytes), object.kind(object.root) == .object else { return nil }
      let names = object.members(of: object.root).map(\.0)
      return members.first { !names.isEmpty && $0.members.isSuperset(of: names) }?.name
    }
  }

  // MARK: Items beside the main one

  /// The place of an item beside the main one; nil if the format has none for it.
  static func beside(
    _ item: ExportedItem, _ form: ExportForm, _ draft: EntryDraft
  ) -> (name: String, role: ImportedField.Role)? {
    let label = item.mark(ImportKey.field) ?? item.leaf
    guard item.isText, item.kind != .blob || !form.hasFiles else {
      return form.hasFiles ? (label, .attachment) : nil
    }
    if item.kind == .totp, !draft.has(.oneTime), form.hasLogin(draft.kind) { return (form.oneTime, .oneTime) }
    if item.kind == .note, label.lowercased() == "notes", !draft.has(.note) { return (form.note, .note) }
    let name = form.free(label)
    // A name that is there already would hide one of the two.
    guard form.hasUniqueNames, draft.has(name) else { return (name, item.kind == .totp ? oneTime(form) : .secret) }
    return (name + "_", item.kind == .totp ? oneTime(form) : .secret)
  }

  /// The role of a further secret of one-time codes.
  private static func oneTime(_ form: ExportForm) -> ImportedField.Role { form.readsURIs ? .oneTime : .secret }
}
