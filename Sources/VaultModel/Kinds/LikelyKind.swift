internal import VaultBytes

/// The likely kind of a value, judged by its form, if the caller named no kind and the value would be stored as a
/// password.
public struct LikelyKind: Sendable {
  public let kind: ItemKind
  /// The name of the value's form, to follow "it looks like".
  public let form: String

  /// Examines a value; nil for a value that may well be a password.
  public init?(of value: RawSpan) {
    if OneTimeSecret.isURI(value) {
      (kind, form) = (.totp, "the secret of one-time codes (otpauth://)")
    } else if let form = OtherOneTimeForm(of: value) {
      (kind, self.form) = (.totp, form.text)
    } else if WiFiText.isURI(value) {
      (kind, form) = (.wifi, "the code of a Wi-Fi network (WIFI:)")
    } else if let label = Self.label(in: value) {
      (kind, form) = (label, "PEM")
    } else {
      return nil
    }
  }

  /// The kind according to the first BEGIN line of a PEM text, wherever the marker stands in its line.
  private static func label(in value: RawSpan) -> ItemKind? {
    var found: ItemKind?
    var place = value.first(UInt8(ascii: "-"), from: 0)
    while place < value.byteCount {
      if value.hasBytes("-----BEGIN ", at: place) {
        if value.hasBytes("-----BEGIN OPENSSH PRIVATE KEY-----", at: place) { return .sshKey }
        let end = value.first(0x0A, from: place)
        let isKey = (place..<end).contains { value.hasBytes("PRIVATE KEY-----", at: $0) }
        if isKey { return .tlsKey }
        if found == nil { found = value.hasBytes("-----BEGIN CERTIFICATE", at: place) ? .certificate : .note }
      }
      place = value.first(UInt8(ascii: "-"), from: place + 1)
    }
    return found
  }
}
