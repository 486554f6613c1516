internal import VaultModel
internal import VaultWire

/// The fields that `vault get --field` can print beside attributes.
enum ItemField {
  /// The built-in fields.
  static let all = [
    "value", "uri", "name", "kind", "version", "created", "modified", "expires", "accessible", "require", "reuse",
    "size",
  ]

  /// The same in words, for help.
  static let names = all.dropLast().joined(separator: ", ") + " and \(all[all.count - 1])"

  /// The text of a field; nil when the item has none of that name.
  static func text(_ field: String, of item: Wire.Item) -> String? {
    switch field {
    case "name": item.name
    case "kind": item.kind
    case "version": String(item.version)
    case "created": Timestamp.format(item.created)
    case "modified": Timestamp.format(item.modified)
    case "expires": item.expires.map(Timestamp.format) ?? "never"
    case "accessible": item.accessible
    case "require": item.require
    case "reuse": Seconds.format(Int64(item.reuse))
    case "size": String(item.size)
    default: item.attributes[field]
    }
  }
}

/// The text that a phone reads to join a network.
enum WiFi {
  /// The `WIFI:` URI of a `wifi` item, with its value as the passphrase.
  static func uri(of item: Wire.Item, _ passphrase: borrowing SecretBuffer) throws(Failure) -> SecretBuffer {
    guard item.kind == ItemKind.wifi.rawValue else {
      throw Failure(
        .missing, "\(Printable.quoted(item.name)) is of kind \(Printable.text(item.kind))", "only wifi items have a uri"
      )
    }
    var uri = SecretBuffer(capacity: 256)
    do throws(ValueError) {
      try passphrase.withBytes { bytes throws(ValueError) in
        try WiFiURI.write(attributes: item.attributes, passphrase: bytes) { uri.append($0) }
      }
    } catch {
      throw Failure(.invalid, "\(Printable.quoted(item.name)) makes no uri: \(error.reason)", "correct the item")
    }
    return uri
  }
}
