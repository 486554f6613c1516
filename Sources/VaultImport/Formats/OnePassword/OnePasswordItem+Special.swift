internal import VaultWire

// The keys of SSH and the wireless networks, for which the vault has kinds of items.
extension OnePasswordItem {
  // MARK: SSH

  /// Adds a private key. The form of the outer member differs from item to item; that in `metadata` is PEM (PKCS #8).
  mutating func addKey(_ name: String, _ key: JSONValue) {
    let metadata = key["metadata"]
    let pem = metadata?["privateKey"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    let role: ImportedField.Role = category == .sshKey && !hasKey ? .password : .secret
    hasKey = true
    for member in key.members {
      switch member.name {
      case "privateKey":
        // The same key in another form, or the same text, is kept once.
        if pem == nil { add(name, role, member.value) }
      case "metadata" where member.value.isObject: for member in member.value.members { addFact(member, name, role) }
      default: entry.addUnknown("\(name): \(member.name)", member.value)
      }
    }
    if let pem, let other = key["privateKey"]?.string, !other.isEmpty, !other.utf8.elementsEqual(pem.utf8) {
      entry.fields.append(
        Field(
          "\(name): privateKey", .setting, [], size: other.utf8.count, refusal: "it is the same key in another form"))
    }
  }

  private mutating func addFact(_ member: JSONValue.Member, _ name: String, _ role: ImportedField.Role) {
    switch member.name {
    case "privateKey": add(name, role, member.value)
    case "publicKey": add("public-key", .text, member.value)
    case "fingerprint": add("fingerprint", .text, member.value)
    case "keyType": keyType(member.value)
    default: entry.addUnknown("\(name): \(member.name)", member.value)
    }
  }

  /// Adds the type of a key: a name, or an object such as `{"RSA": 4096}`.
  private mutating func keyType(_ value: JSONValue) {
    if let text = value.string {
      entry.addUnlessEmpty("key-type", .text, text)
    } else {
      entry.addSetting("key-type", value)
    }
  }

  // MARK: Wireless networks

  /// The words for the security of a network in the menu of 1Password, and in an item of kind `wifi`. Enterprise
  /// networks have no password of their own.
  private static let securities = ["wpa3p": "WPA3", "wpa2p": "WPA", "wpap": "WPA", "wpa": "WPA", "wep": "WEP"]

  static func isNetwork(_ details: JSONValue) -> Bool {
    var texts: [String: String] = [:]
    for section in details["sections"]?.elements ?? [] {
      for field in section["fields"]?.elements ?? [] {
        guard let id = field["id"]?.string, let text = field["value"]?.members.first?.value.string else { continue }
        if !text.isEmpty, texts[id] == nil { texts[id] = text }
      }
    }
    guard texts["network_name"] != nil, texts["wireless_password"] != nil else { return false }
    return texts["wireless_security"].map { securities[$0] != nil } ?? true
  }

  /// Adds the name or the security of a network under the name that items of kind `wifi` have for it; returns false for
  /// any other field.
  mutating func addNetwork(_ id: String, _ value: JSONValue) -> Bool {
    guard isNetwork, let text = value.string, !text.isEmpty else { return false }
    switch id {
    case "network_name": entry.add("ssid", .text, text)
    case "wireless_security": entry.add("security", .text, Self.securities[text] ?? text)
    default: return false
    }
    return true
  }
}
