internal import VaultWire

// The credentials of an item (section 3 of the format). A passkey, a card, an identity and the like are kept whole, as
// are credentials of unknown types.
extension CXFItem {
  mutating func take(_ credential: JSONValue) {
    let name = credential["type"]?.string ?? ""
    guard let type = Credential(rawValue: name), credential.isObject else {
      return entry.addUnknown(name.isEmpty ? "credential" : name, credential)
    }
    let members = credential.members.filter { $0.name != "type" }
    switch type {
    case .basicAuth: for member in members { takeLogin(member) }
    case .apiKey: for member in members { takeAPIKey(member) }
    case .sshKey: for member in members { takeSSHKey(member) }
    case .wifi: for member in members { takeNetwork(member) }
    case .generatedPassword: for member in members { takeGenerated(member) }
    case .totp: takeOneTime(credential)
    case .note: for member in members { takeNote(member) }
    case .file: takeFile(credential)
    case .customFields: takeCustom(credential)
    case .itemReference: for member in members { takeReference(member) }
    }
  }

  /// The role of the secret of a credential: the first one of the type that gives the item its value is this value.
  mutating func secretRole(_ type: Credential, _ value: JSONValue) -> ImportedField.Role {
    guard type == main, !hasValue, CXFField(value).text?.isEmpty == false else { return .secret }
    hasValue = true
    return .password
  }

  /// Adds a field that a person can edit.
  ///
  /// - Parameter role: the role; nil for the one of the type.
  mutating func add(_ name: String, _ json: JSONValue, _ role: ImportedField.Role? = nil) {
    let field = CXFField(json)
    if let text = field.text {
      entry.addUnlessEmpty(name, role ?? field.role, text)
    } else {
      entry.addUnknown(name, field.value)
    }
    for member in field.others { entry.addUnknown("\(name): \(member.name)", member.value) }
  }

  private mutating func takeLogin(_ member: JSONValue.Member) {
    switch member.name {
    case "username": add(member.name, member.value, .username)
    case "password": add(member.name, member.value, secretRole(.basicAuth, member.value))
    // Drafts of the format have the addresses here.
    case "urls" where member.value.isArray: for url in member.value.elements { add("url", .url, url) }
    default: entry.addUnknown(member.name, member.value)
    }
  }

  private mutating func takeAPIKey(_ member: JSONValue.Member) {
    switch member.name {
    case "key": add(member.name, member.value, secretRole(.apiKey, member.value))
    case "username": add(member.name, member.value, .username)
    case "url": add(member.name, member.value, .url)
    case "keyType", "validFrom": add(member.name, member.value, .text)
    case "expiryDate": addExpiry(member, of: .apiKey)
    default: entry.addUnknown(member.name, member.value)
    }
  }

  /// Adds the last day of a credential; that of the item's own value is its expiry.
  mutating func addExpiry(_ member: JSONValue.Member, of type: Credential) {
    let field = CXFField(member.value)
    guard main == type, let day = field.text, let time = ISOTime.seconds("\(day)T23:59:59Z"), time > 0 else {
      return add(member.name, member.value, .text)
    }
    entry.add(member.name, .expires, String(time))
    for other in field.others { entry.addUnknown("\(member.name): \(other.name)", other.value) }
  }

  private mutating func takeGenerated(_ member: JSONValue.Member) {
    switch member.name {
    case "password": add(member.name, member.value, secretRole(.generatedPassword, member.value))
    default: entry.addUnknown(member.name, member.value)
    }
  }

  private mutating func takeNote(_ member: JSONValue.Member) {
    switch member.name {
    case "content": add("note", member.value, .note)
    default: entry.addUnknown("note: \(member.name)", member.value)
    }
  }

  /// Adds a link to another item, whose id is its attribute `source-id`.
  private mutating func takeReference(_ member: JSONValue.Member) {
    guard member.name == "reference", let id = member.value["item"]?.string ?? member.value.string else {
      return entry.addUnknown("item-reference: \(member.name)", member.value)
    }
    entry.addUnlessEmpty("item-reference", .text, id)
    for part in member.value.members where part.name != "item" {
      entry.addSetting("item-reference: \(part.name)", part.value)
    }
  }

  /// Refuses a file: its content is in another part of the exchange, which is encrypted.
  private mutating func takeFile(_ credential: JSONValue) {
    let name = (credential["name"]?.string ?? "file").cut(ImportedField.longestName)
    let size = credential["decryptedSize"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    entry.refuse(
      name, .attachment, size: max(0, size), "the exchange has only its name; the content is not in the JSON")
    for member in credential.members where !["type", "name", "decryptedSize"].contains(member.name) {
      entry.addSetting("\(name): \(member.name)", member.value)
    }
  }

  /// Adds fields that a person has added, under their labels.
  private mutating func takeCustom(_ credential: JSONValue) {
    // The label is cut at once, because each field has it in its name.
    let heading = (credential["label"]?.string ?? "").cut(ImportedField.longestName)
    for member in credential.members {
      switch member.name {
      case "type", "id", "label": break
      case "fields" where member.value.isArray:
        for json in member.value.elements {
          let label = CXFField(json).label
          let name = [heading, label.isEmpty ? "custom field" : label].filter { !$0.isEmpty }.joined(separator: ": ")
          add(name, json)
        }
      default: entry.addUnknown("\(heading.isEmpty ? "custom-fields" : heading): \(member.name)", member.value)
      }
    }
  }
}
