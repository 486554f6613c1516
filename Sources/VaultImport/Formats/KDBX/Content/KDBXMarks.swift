internal import VaultWire

/// The names of the marks that an export of the vault leaves in the custom data of an entry. Programs keep custom data
/// and hardly show it.
enum KDBXMark {
  /// The mark of an entry whose kind does not follow from its fields.
  static let kind = "vault.kind"
  /// The mark of an expiry after which the vault does not serve the item. Other programs only note an expiry.
  static let expires = "vault.expires"

  /// The mark of a field from whose value the kind of its item does not follow.
  static func kind(of field: String) -> String { "\(kind)/\(field)" }
  /// The mark of a text that is an attribute, although its name sounds like a secret.
  static func attribute(_ field: String) -> String { "vault.attribute/\(field)" }
}

/// The marks that an export of the vault has left in an entry.
struct KDBXMarks {
  /// The path of custom data among the settings of an entry.
  private static let path = "CustomData/"

  /// The kind of the entry; nil if it follows from the fields.
  private(set) var kind: ImportedEntry.Kind?
  /// True if the vault does not serve the item after its expiry.
  private(set) var isExpiryEnforced = false
  /// The settings that are no marks.
  private(set) var settings: [KDBXSetting] = []
  /// The kinds of items by the names of the fields that hold their values.
  private var kinds: [(field: String, kind: String)] = []
  /// The names of the texts that are attributes.
  private var attributes: [String] = []

  init(_ version: KDBXVersion) {
    for setting in version.settings where !take(setting) { settings.append(setting) }
    // KeePassXC notes there when it changed the custom data, which has nothing but the marks.
    let isMarked = settings.count < version.settings.count
    if isMarked { settings.removeAll { $0.name == Self.path + "_LAST_MODIFIED" } }
  }

  /// Takes a setting if it is a mark.
  private mutating func take(_ setting: KDBXSetting) -> Bool {
    guard setting.name.hasPrefix(Self.path), setting.value.count <= ImportedField.longestMark,
      let value = String(validating: setting.value, as: UTF8.self)
    else { return false }
    let name = setting.name.dropFirst(Self.path.count)
    switch name {
    case KDBXMark.kind:
      kind = ImportedEntry.Kind(rawValue: value)
      return kind != nil
    case KDBXMark.expires:
      guard value == ImportedField.enforced else { return false }
      isExpiryEnforced = true
    default: return take(ofField: name, value)
    }
    return true
  }

  /// Takes a setting if it is the mark of a field.
  private mutating func take(ofField name: Substring, _ value: String) -> Bool {
    func field(_ start: String) -> String? { name.hasPrefix(start) ? String(name.dropFirst(start.count)) : nil }
    if let field = field(KDBXMark.kind(of: "")) {
      kinds.append((field, value))
    } else if let field = field(KDBXMark.attribute("")), value == ImportedField.attribute {
      attributes.append(field)
    } else {
      return false
    }
    return true
  }

  /// Puts the marks on the fields of an entry. A field whose kind is marked is there even if its value is empty. The
  /// mark of a field that is gone stays a setting, and so does that of an attribute which is now protected.
  mutating func apply(to entry: inout Entry, _ texts: [KDBXText]) {
    for name in attributes {
      if let index = entry.fields.firstIndex(where: { $0.role == .text && $0.name.utf8.elementsEqual(name.utf8) }) {
        entry.fields[index].mark = ImportedField.attribute
      } else {
        let mark = Self.path + KDBXMark.attribute(name)
        settings.append(KDBXSetting(name: mark, value: Array(ImportedField.attribute.utf8)))
      }
    }
    for (name, kind) in kinds {
      let index = entry.fields.firstIndex { $0.name.utf8.elementsEqual(name.utf8) && Self.holdsValue($0.role) }
      if let index {
        entry.fields[index].mark = kind
      } else if texts.contains(where: { $0.value.isEmpty && $0.key.utf8.elementsEqual(name.utf8) }) {
        entry.fields.append(Field(name, Self.role(ofEmpty: name), [], mark: kind))
      } else {
        settings.append(KDBXSetting(name: Self.path + KDBXMark.kind(of: name), value: Array(kind.utf8)))
      }
    }
  }

  private static func role(ofEmpty name: String) -> ImportedField.Role {
    switch name {
    case "Password": .password
    case "Notes": .note
    default: .secret
    }
  }

  /// True for a field that becomes the value of an item.
  private static func holdsValue(_ role: ImportedField.Role) -> Bool {
    switch role {
    case .password, .oneTime, .note, .secret, .attachment, .document: true
    case .title, .folder, .identifier, .username, .url, .text, .tag, .created, .modified, .expires, .oldPassword,
      .oldField, .setting:
      false
    }
  }
}
