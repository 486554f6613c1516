internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The URI that a phone scans to join a network or to make one-time codes.
enum ItemURI {
  /// True for a kind whose items have such a URI.
  static func isMade(of kind: ItemKind?) -> Bool { kind == .wifi || kind == .totp }

  /// Returns the `WIFI:` URI of a `wifi` item, or the `otpauth://` URI of a `totp` item. The URI holds the value.
  static func uri(of item: Wire.Item, _ value: borrowing SecretBuffer) throws(Failure) -> SecretBuffer {
    let kind = ItemKind(rawValue: item.kind)
    guard isMade(of: kind) else {
      throw Failure(
        .missing, "\(Printable.quoted(item.name)) is of kind \(Printable.text(item.kind))",
        "only wifi and totp items have a uri")
    }
    var uri = SecretBuffer(capacity: value.count + 1024)
    do throws(ValueError) {
      try value.withBytes { bytes throws(ValueError) in
        if kind == .wifi {
          try WiFiURI.write(attributes: item.attributes, passphrase: bytes) { uri.append($0) }
        } else {
          try OneTimeURI.write(name: item.name, attributes: item.attributes, value: bytes) { uri.append($0) }
        }
      }
    } catch {
      throw Failure(.invalid, "\(Printable.quoted(item.name)) makes no uri: \(error.reason)", "correct the item")
    }
    return uri
  }
}
