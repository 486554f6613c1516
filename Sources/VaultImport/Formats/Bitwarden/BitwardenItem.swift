internal import VaultWire

/// The entry for an item of a Bitwarden export.
///
/// The members are those of CipherWithIdExport and CipherExport in libs/common/src/models/export of bitwarden/clients.
/// Whatever else an item has becomes fields, too.
struct BitwardenItem {
  /// The type of an item (libs/common/src/vault/enums/cipher-type.ts).
  enum Kind: Int64 {
    case login = 1
    case note, card, identity, key, bankAccount, driversLicense, passport
  }

  var entry: Entry
  let kind: Kind?
  /// The UTF-8 bytes of the names of the custom fields that are hidden.
  let hiddenNames: Set<[UInt8]>

  init(_ item: JSONValue, in folders: BitwardenFolders) {
    kind = Self.kind(of: item)
    let hidden = item["fields"]?.elements.filter { $0["type"]?.integer == 1 } ?? []
    hiddenNames = Set(hidden.compactMap { $0["name"]?.string.map { Array($0.utf8) } })
    let places = Self.places(of: item, in: folders)
    entry = Entry(
      kind.entryKind, id: item["id"]?.string ?? "", folder: places.first?.path ?? [],
      title: item["name"]?.string ?? "")
    entry.isTrashed = item["deletedDate"] != nil
    add(places)
    for member in item.members { take(member, folders) }
    if entry.kind == .document, !entry.fields.contains(where: { $0.role == .document }) { entry.kind = .note }
  }

  private mutating func take(_ member: JSONValue.Member, _ folders: BitwardenFolders) {
    let (name, value) = (member.name, member.value)
    switch (name, kind) {
    case ("type", _): if kind == nil { entry.addUnknown(name, value) }
    case ("id", _), ("name", _): if value.string == nil { entry.addUnknown(name, value) }
    case ("folderId", _): addLostPlaces([value], name, folders)
    case ("collectionIds", _) where value.isArray: addLostPlaces(value.elements, name, folders)
    case ("notes", _): add(name, .note, value)
    case ("favorite", _), ("reprompt", _): if !value.isOff { addSetting(name, value) }
    case ("organizationId", _), ("deletedDate", _), ("archivedDate", _): addSetting(name, value)
    case ("creationDate", _): addTime(name, .created, value)
    case ("revisionDate", _): addTime(name, .modified, value)
    case ("key", _): refuseKey(value)
    case ("fields", _) where value.isArray: for field in value.elements { addCustom(field) }
    case ("passwordHistory", _) where value.isArray: addHistory(value.elements)
    case ("login", .login) where value.isObject: for member in value.members { takeLogin(member) }
    case ("sshKey", .key) where value.isObject: for member in value.members { takeKey(member) }
    case ("secureNote", .note) where value.isObject: if !value.isPlainNote { entry.addDocument(name, value) }
    default: entry.addUnknown(name, value)
    }
  }

  /// Adds a member that should be a text.
  mutating func add(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let text = value.string else { return entry.addUnknown(name, value) }
    entry.addUnlessEmpty(name, role, text)
  }

  /// Adds a setting of Bitwarden.
  mutating func addSetting(_ name: String, _ value: JSONValue) { add(name, .setting, value) }

  private mutating func takeKey(_ member: JSONValue.Member) {
    switch member.name {
    case "privateKey": add(member.name, .password, member.value)
    case "publicKey", "keyFingerprint": add(member.name, .text, member.value)
    default: entry.addUnknown(member.name, member.value)
    }
  }

  /// Adds a time; a text that is none is kept as a setting.
  private mutating func addTime(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let time = value.string.flatMap({ ISOTime.seconds($0) }) else { return addSetting(name, value) }
    entry.add(name, role, String(time))
  }

  /// Refuses the key under which Bitwarden's server keeps this item.
  private mutating func refuseKey(_ value: JSONValue) {
    guard !value.isBlank else { return }
    let reason = "it is the key under which Bitwarden's server keeps this item, and of no use elsewhere"
    entry.refuse("key", .setting, size: value.string?.utf8.count ?? value.json.count, reason)
  }

  /// The type of an item; if it has none, that of its parts.
  private static func kind(of item: JSONValue) -> Kind? {
    if let type = item["type"] { return type.integer.flatMap(Kind.init) }
    if item["login"] != nil { return .login }
    if item["sshKey"] != nil { return .key }
    return item["secureNote"] != nil ? .note : nil
  }
}

extension BitwardenItem.Kind? {
  /// The kind of the entry. A card and the like are documents, as is an item of an unknown type.
  fileprivate var entryKind: ImportedEntry.Kind {
    switch self {
    case .login: .login
    case .note: .note
    case .key: .sshKey
    case .card, .identity, .bankAccount, .driversLicense, .passport, nil: .document
    }
  }
}

extension JSONValue {
  /// True for a setting in its usual state.
  fileprivate var isOff: Bool { isBlank || bool == false || integer == 0 }

  /// True for the part of a secure note that says only that it is one.
  fileprivate var isPlainNote: Bool { members.allSatisfy { $0.name == "type" && $0.value.integer == 0 } }
}
