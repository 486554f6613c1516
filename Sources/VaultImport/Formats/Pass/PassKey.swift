internal import VaultBytes
internal import VaultWire

/// A key with a known meaning in a file of a password store, in any letter case.
///
/// The keys are those of Browserpass (src/helpers/base.js) and the ones that pass-import writes.
enum PassKey {
  case username, email, password, url, oneTime, note

  init?(_ key: String) {
    switch key.lowercased() {
    case "login", "username", "user", "user name", "login name": self = .username
    case "email", "e-mail", "mail": self = .email
    case "password", "pass": self = .password
    case "url", "uri", "website", "site", "link", "launch": self = .url
    case "otp", "totp", "hotp", "otpauth": self = .oneTime
    case "note", "notes", "comment", "comments": self = .note
    default: return nil
    }
  }

  /// The roles of the values of keys. Only one key names the user: the first for a user, otherwise the first for an
  /// email address. Only a file without a password in its first line has it as a value.
  static func roles(_ keys: [String], hasPassword: Bool) -> [ImportedField.Role] {
    let known = keys.map { PassKey($0) }
    let user = known.firstIndex(of: .username) ?? known.firstIndex(of: .email)
    let password = hasPassword ? nil : known.firstIndex(of: .password)
    return known.indices.map { index in
      switch known[index] {
      case .username, .email: index == user ? .username : .text
      case .password: index == password ? .password : .secret
      case .url: .url
      case .oneTime: .oneTime
      case .note: .note
      case nil: FieldName.role(keys[index])
      }
    }
  }
}

/// A file that gopass keeps in base64 (`gopass fscopy`, internal/action/binary.go): headers as of an attachment of an
/// email, and the content as the text.
struct GopassFile {
  let name: String
  let content: [UInt8]

  /// True if the key is one of those that describe the file.
  static func isHeader(_ key: String) -> Bool {
    ["content-disposition", "content-transfer-encoding"].contains(key.lowercased())
  }

  /// The file in the pairs and the note of a text; nil if there is none.
  init?(_ pairs: [(key: String, value: ArraySlice<UInt8>)], note: ArraySlice<UInt8>) {
    func value(_ name: String) -> String? {
      pairs.first { $0.key.lowercased() == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }
    guard let encoding = value("content-transfer-encoding"), encoding.lowercased() == "base64",
      let disposition = value("content-disposition"), disposition.lowercased().hasPrefix("attachment")
    else { return nil }
    let symbols = note.filter { ![0x0A, 0x0D, 0x20].contains($0) }
    guard !symbols.isEmpty, let content = [UInt8](base64: String(decoding: symbols, as: UTF8.self)) else { return nil }
    let parts = disposition.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    let name = parts.count >= 3 ? String(decoding: parts[1], as: UTF8.self) : ""
    (self.name, self.content) = (name.isEmpty ? "file" : name, content)
  }
}
