internal import VaultBytes
internal import VaultWire

// The credentials for which the vault has kinds of items of their own.
extension CXFItem {
  // MARK: One-time secrets

  /// Adds the secret of one-time codes as a URI. One whose codes the vault cannot make is kept whole.
  mutating func takeOneTime(_ credential: JSONValue) {
    var parameters = OneTimeParameters()
    func text(_ name: StaticString) -> String? { credential[name].flatMap { CXFField($0).text } }
    parameters.issuer = text("issuer") ?? ""
    let secret = text("secret").flatMap { OneTimeText.secret($0.utf8) }
    let isKnown =
      parameters.set(period: text("period")) && parameters.set(digits: text("digits"))
      && parameters.set(algorithm: text("algorithm"))
    guard isKnown, let secret else { return entry.addDocument("totp", credential) }
    let account = text("username") ?? ""
    let uri = parameters.uri(secret, account: account.isEmpty ? entry.title : account)
    guard AuthURI(uri)?.isAccepted == true else { return entry.addDocument("totp", credential) }
    entry.put("totp", .oneTime, uri)
    for member in credential.members
    where !["type", "secret", "period", "digits", "algorithm", "issuer", "username"].contains(member.name) {
      entry.addUnknown("totp: \(member.name)", member.value)
    }
  }

  // MARK: SSH

  mutating func takeSSHKey(_ member: JSONValue.Member) {
    switch member.name {
    case "privateKey":
      let role = secretRole(.sshKey, member.value)
      guard let pem = member.value.string.flatMap({ Self.pem($0) }) else {
        return add("privateKey", member.value, role)
      }
      entry.put("privateKey", role, pem.utf8)
    case "keyComment": add("comment", member.value, .text)
    case "keyType": add("key-type", member.value, .text)
    case "creationDate", "keyGenerationSource": add(member.name, member.value, .text)
    case "expiryDate": addExpiry(member, of: .sshKey)
    default: entry.addUnknown(member.name, member.value)
    }
  }

  /// A key in PKCS #8 (RFC 5958), which the format writes as base64 for URLs, in PEM (RFC 7468); nil for another text.
  static func pem(_ text: String) -> String? {
    let standard = text.utf8.map { byte in
      byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
    }
    let digits = standard.prefix { $0 != UInt8(ascii: "=") }
    let padded = Array(digits) + Array(repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
    guard let der = [UInt8](base64: String(decoding: padded, as: UTF8.self)), der.first == 0x30 else { return nil }
    var lines: [Substring] = []
    var rest = der.base64[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(64))
      rest = rest.dropFirst(64)
    }
    return "-----BEGIN PRIVATE KEY-----\n\(lines.joined(separator: "\n"))\n-----END PRIVATE KEY-----\n"
  }

  // MARK: Wireless networks

  /// The words for the security of a network in the format, and in an item of kind `wifi`.
  private static let securities = [
    "unsecured": "nopass", "wpa-personal": "WPA", "wpa2-personal": "WPA", "wpa3-personal": "WPA3", "wep": "WEP",
  ]

  mutating func takeNetwork(_ member: JSONValue.Member) {
    switch member.name {
    case "ssid", "hidden": add(member.name, member.value, .text)
    case "passphrase": add(member.name, member.value, secretRole(.wifi, member.value))
    case "networkSecurityType":
      guard let text = CXFField(member.value).text, let word = Self.securities[text] else {
        return add(member.name, member.value, .text)
      }
      entry.add("security", .text, word)
      for other in CXFField(member.value).others { entry.addUnknown("security: \(other.name)", other.value) }
    default: entry.addUnknown(member.name, member.value)
    }
  }
}
