internal import VaultBytes

/// A form in which other programs hand over secrets of one-time codes, but which is refused here with advice on
/// what to give instead.
enum OtherOneTimeForm {
  /// `steam://` and base32, as in some password managers.
  case steam
  /// `otpauth-migration://`: several accounts in one text, in Protocol Buffers.
  case migration

  /// Examines a value; nil for any other form.
  init?(of value: RawSpan) {
    let start = value.hasByteOrderMark ? 3 : 0
    if OneTimeSecret.hasWord("steam://", value, at: start, before: value.byteCount) {
      self = .steam
    } else if OneTimeSecret.hasWord("otpauth-migration://", value, at: start, before: value.byteCount) {
      self = .migration
    } else {
      return nil
    }
  }

  /// The name of the form, to follow "it looks like".
  var text: String {
    switch self {
    case .steam: "the secret of Steam's codes (steam://)"
    case .migration: "an export of several one-time secrets (otpauth-migration://)"
    }
  }

  /// The reason for the refusal.
  var reason: String {
    switch self {
    case .steam:
      "steam:// is not a form of one-time-code secret here: give the base32 that follows it, with --attr issuer=Steam, "
        + "or otpauth://totp/Steam?secret=BASE32&issuer=Steam"
    case .migration:
      "otpauth-migration:// holds several secrets in a form of its own: export each account's otpauth:// URI, "
        + "as the QR code for one account has it"
    }
  }

  /// True if the value looks like Steam's `shared_secret`: 20 bytes in base64.
  static func isSharedSecret(_ value: RawSpan) -> Bool {
    guard value.byteCount == 28, value.byte(27) == UInt8(ascii: "=") else { return false }
    return (0..<27).allSatisfy { place in
      let byte = value.byte(place)
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      return isLetter || isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }
  }

  static let sharedSecret =
    "a one-time-code secret is base32 or an otpauth:// URI, and this looks like base64, as Steam's shared_secret is: "
    + "give it in base32 (`base64 -d | base32`), with --attr issuer=Steam for Steam's codes"
}
