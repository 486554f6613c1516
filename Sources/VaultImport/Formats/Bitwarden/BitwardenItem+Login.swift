internal import VaultWire

// The part of an item that describes a login (LoginExport, LoginUriExport and Fido2CredentialExport in
// libs/common/src/models/export of bitwarden/clients).
extension BitwardenItem {
  /// The ways in which an address is compared with that of a page (UriMatchStrategy in
  /// libs/common/src/models/domain/domain-service.ts).
  private static let matches = ["domain", "host", "starts with", "exact", "regular expression", "never"]
  private static let expression = 4

  mutating func takeLogin(_ member: JSONValue.Member) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "username": add(name, .username, value)
    case "password": add(name, .password, value)
    case "totp": addOneTime(name, value)
    case "uris" where value.isArray: for (place, uri) in value.elements.enumerated() { addURI(uri, place + 1) }
    // Exports of 2017 have one address.
    case "uri": add(name, .url, value)
    case "passwordRevisionDate": addSetting(name, value)
    case "fido2Credentials" where value.isArray:
      for passkey in value.elements { entry.addUnknown("passkey", passkey) }
    default: entry.addUnknown(name, value)
    }
  }

  /// Adds an address with its settings. A regular expression is no address.
  private mutating func addURI(_ uri: JSONValue, _ number: Int) {
    guard case .object(let members) = uri else { return entry.addUnknown("uri", uri) }
    let match = uri["match"]?.integer.flatMap { Int(exactly: $0) }
    for member in members {
      let name = number == 1 ? member.name : "\(member.name) \(number)"
      switch member.name {
      case "uri": add(name, match == Self.expression ? .text : .url, member.value)
      case "match":
        guard let match, Self.matches.indices.contains(match) else {
          entry.addUnknown(name, member.value)
          continue
        }
        entry.add(name, .setting, Self.matches[match])
      case "uriChecksum": addSetting(name, member.value)
      default: entry.addUnknown(name, member.value)
      }
    }
  }

  /// Adds a one-time secret: an `otpauth:` URI, base32 alone, or `steam://` and base32
  /// (https://bitwarden.com/help/authenticator-keys).
  private mutating func addOneTime(_ name: String, _ value: JSONValue) {
    if let text = value.string { entry.putOneTime(name, text) } else { entry.addUnknown(name, value) }
  }
}
