internal import VaultModel
internal import VaultWire

/// The names of fields in a format, and the ways in which it keeps values.
///
/// The writer in `vault-import` writes exactly these fields, and the reader of the format gives exactly these back.
enum ExportForm {
  case kdbx
  case bitwarden

  init(_ format: ExportOrder.Format) {
    switch format {
    case .kdbx: self = .kdbx
    case .bitwarden: self = .bitwarden
    }
  }

  var password: String { isKDBX ? "Password" : "password" }
  var username: String { isKDBX ? "UserName" : "username" }
  var url: String { isKDBX ? "URL" : "uri" }
  var note: String { isKDBX ? "Notes" : "notes" }
  var oneTime: String { isKDBX ? "otp" : "totp" }
  var tags: String { isKDBX ? "Tags" : "tags" }

  /// The names of the texts that an export makes of an SSH key, because the format has them.
  static let ofPublicKey = ["publicKey", "keyFingerprint"]

  private var isKDBX: Bool {
    switch self {
    case .kdbx: true
    case .bitwarden: false
    }
  }

  /// True if the format holds files.
  var hasFiles: Bool { isKDBX }
  /// True if the format tells labels from texts.
  var hasTags: Bool { isKDBX }
  /// True if the format holds a time at which an entry expires.
  var hasExpiry: Bool { isKDBX }
  /// True if the format has a place, which programs keep and hardly show, for the marks by which an import knows the
  /// kind of an item, an expiry that the vault enforces, an empty value, and an attribute whose name sounds like a
  /// secret.
  var hasMarks: Bool { isKDBX }
  /// True if each name of a field is there only once.
  var hasUniqueNames: Bool { isKDBX }

  /// True if an entry of this kind has a user name, addresses and the secret of one-time codes.
  func hasLogin(_ kind: ImportedEntry.Kind) -> Bool { isKDBX || kind == .login }

  /// A name under which no field of a format's own meaning goes.
  func free(_ name: String) -> String { isReserved(name) ? name + "_" : name }

  /// True for a name that means something to programs of the format.
  private func isReserved(_ name: String) -> Bool {
    let names = ["Title", "UserName", "Password", "URL", "Notes", "otp", "TOTP Seed", "TOTP Settings"]
    guard isKDBX else { return false }
    return names.contains(name) || name.hasPrefix("TimeOtp-") || name.hasPrefix("HmacOtp-")
  }

  /// True if programs find the secret of one-time codes in any field that holds its URI.
  var readsURIs: Bool { isKDBX }

  /// The role of earlier values of a field; nil if the format keeps none.
  func role(ofEarlier role: ImportedField.Role, in kind: ImportedEntry.Kind) -> ImportedField.Role? {
    switch role {
    case .password: return isKDBX || kind == .login ? .oldPassword : nil
    case .note, .oneTime: return isKDBX ? .oldField : nil
    case .secret: return isKDBX || kind == .login ? .oldField : nil
    case .title, .folder, .identifier, .username, .url, .text, .tag, .attachment, .document, .created, .modified,
      .expires, .oldPassword, .oldField, .setting:
      return nil
    }
  }
}
