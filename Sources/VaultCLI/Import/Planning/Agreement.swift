internal import VaultBytes
internal import VaultModel
internal import VaultWire

// The decision whether an item of the vault is what an import would store. Whatever a source does not tell does not
// count: an export of the vault, imported again, must not look like another content.

extension Wire.Item {
  /// True if everything but the value is as an import would store it. What the import itself adds does not count, and
  /// neither do attributes that were added since, or an expiry of which the source tells nothing.
  func agrees(with item: ImportedItem) -> Bool {
    let isOfKind = kind == item.kind.rawValue || kind == ItemKind.blob.rawValue || item.kind.isGeneral
    guard isOfKind, item.value.mayBeSame(as: self) else { return false }
    if let expiry = item.expires, expiry != expires { return false }
    return hasAttributes(of: item)
  }

  /// True if an attribute is what an import would make an item of: the same text under the same name. An export writes
  /// attributes as texts, and of some texts an import makes items, such as of those whose names sound like a secret.
  func hasAttribute(inPlaceOf item: ImportedItem) -> Bool {
    guard let key = item.value.attributeKey, item.versions.isEmpty, hasAttributes(of: item) else { return false }
    return has(key) { item.value.isText($0) }
  }

  private func hasAttributes(of item: ImportedItem) -> Bool {
    item.attributes.allSatisfy { key, value in
      if ImportKey.ofImport.contains(key) { return true }
      if key == "title" { return fits(title: value, item) }
      return has(key) { $0.utf8.elementsEqual(value.utf8) } || isDerived(key)
    }
  }

  /// True if the item has the title, or has none and its name says the same.
  private func fits(title: String, _ item: ImportedItem) -> Bool {
    if [attributes["title"], keyring?.label].contains(where: { $0?.utf8.elementsEqual(title.utf8) == true }) {
      return true
    }
    guard let name = try? ItemName(name) else { return false }
    if ImportNaming.fits(title, name) { return true }
    guard item.attributes[ImportKey.field] != nil, let folder = name.folders.last else { return false }
    return (try? ItemName(folder)).map { ImportNaming.fits(title, $0) } ?? false
  }

  /// True if the item has the attribute, perhaps under another key of its family: an import numbers the keys anew.
  private func has(_ key: String, _ isSame: (String) -> Bool) -> Bool {
    if attributes[key].map(isSame) == true { return true }
    let word = AttributeFamily(key).word
    return attributes.contains { own, text in AttributeFamily(own).word.utf8.elementsEqual(word.utf8) && isSame(text) }
  }

  /// True for an attribute that an export makes of the value, and that the item itself does not have.
  private func isDerived(_ key: String) -> Bool {
    kind == ItemKind.sshKey.rawValue && ExportForm.ofPublicKey.contains(key) && attributes[key] == nil
  }
}

extension ItemKind {
  /// True for a kind that an import chooses if the source tells nothing of the kind.
  var isGeneral: Bool {
    switch self {
    case .password, .note, .blob: true
    case .apiKey, .deviceToken, .wifi, .pairingCode, .tlsKey, .certificate, .sshKey, .totp: false
    }
  }
}

extension SourceField {
  /// The key of the attribute that an export writes as this field; nil if it writes none in this way.
  fileprivate var attributeKey: String? {
    switch facts.role {
    case .text, .oneTime: ImportKey.ofImport.contains(facts.name) ? nil : facts.name
    case .url: "url"
    case .title, .folder, .identifier, .username, .password, .note, .secret, .tag, .attachment, .document, .created,
      .modified, .expires, .oldPassword, .oldField, .setting:
      nil
    }
  }

  /// True if the value is this text, which is no secret.
  fileprivate func isText(_ text: String) -> Bool {
    guard value.count == text.utf8.count else { return false }
    var bytes = SecretBuffer(capacity: text.utf8.count)
    bytes.append(utf8: text)
    return value.isSame(as: bytes)
  }

  /// False if the value cannot be that of the item.
  func mayBeSame(as item: Wire.Item) -> Bool { value.count == item.size || isOneTime(item) }

  /// True if the value of an item is that of the field. One-time secrets are the same in any form.
  func isSame(as present: borrowing SecretBuffer, of item: Wire.Item) -> Bool {
    if present.isSame(as: value) { return true }
    guard isOneTime(item) else { return false }
    // This is the form in which an export writes it.
    if let uri = try? ItemURI.uri(of: item, present), uri.isSame(as: value) { return true }
    return present.withBytes { present in
      value.withBytes { value in
        guard let own = try? OneTimeSecret(present, issuer: item.attributes["issuer"]), !own.isURI,
          let other = try? OneTimeSecret(value)
        else { return false }
        return own.makesSameCodes(present, as: other, value)
      }
    }
  }

  private func isOneTime(_ item: Wire.Item) -> Bool { facts.role == .oneTime && item.kind == ItemKind.totp.rawValue }
}

extension OneTimeSecret {
  /// True if two secrets, which were read from these values, make the same codes.
  fileprivate func makesSameCodes(_ value: RawSpan, as other: OneTimeSecret, _ otherValue: RawSpan) -> Bool {
    guard algorithm == other.algorithm, alphabet == other.alphabet, digits == other.digits, factor == other.factor
    else { return false }
    return key(in: value).isSame(as: other.key(in: otherValue))
  }

  private func key(in value: RawSpan) -> SecretBuffer {
    var key = SecretBuffer(capacity: keyCount)
    writeKey(from: value) { key.append($0) }
    return key
  }
}
