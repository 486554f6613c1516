internal import VaultModel
internal import VaultWire

// The places of the fields that are not the main item's value.
extension EntryMapping {
  /// Places the fields with a meaning of their own, before any other field can take their keys.
  mutating func placeFacts(_ naming: inout ImportNaming) {
    for index in entry.fields.indices where places[index] == nil && index != main {
      let field = entry.fields[index]
      let isKept: Bool
      switch roles[index] {
      case .folder:
        places[index] = FieldPlace(fate: .name)
        continue
      case .title: isKept = keep(index, as: "title", field.attributeText)
      case .identifier: isKept = keep(index, as: ImportKey.id, field.attributeText)
      case .username: isKept = keep(index, as: freeKey("username"), field.attributeText)
      case .url: isKept = keep(index, as: freeKey("url"), Self.openText(of: field))
      case .tag: isKept = keepTag(index, field.attributeText)
      case .created: isKept = keep(index, as: freeKey(ImportKey.created), timeText(of: field))
      case .modified: isKept = keep(index, as: freeKey(ImportKey.modified), timeText(of: field))
      case .expires: isKept = keepExpiry(index)
      case .password, .oneTime, .note, .text, .secret, .attachment, .document, .oldPassword, .oldField, .setting:
        continue
      }
      if !isKept { placeBeside(index, &naming) }
    }
  }

  /// Places the texts that are no secrets.
  mutating func placeTexts(_ naming: inout ImportNaming) {
    for index in open([.text]) where index != main {
      let field = entry.fields[index]
      let key = key(for: field.facts)
      if key == nil || !keep(index, as: key ?? "", Self.openText(of: field)) { placeBeside(index, &naming) }
    }
  }

  /// The text for an attribute, which holds no secret; nil for a URL with a password, too.
  private static func openText(of field: SourceField) -> String? {
    field.attributeText.flatMap { ImportNaming.hasPassword($0) ? nil : $0 }
  }

  /// Makes items of the fields that no attribute may hold, among them the earlier passwords of an entry without one.
  mutating func placeOthers(_ naming: inout ImportNaming) {
    var roles: Set<ImportedField.Role> = [.password, .oneTime, .note, .secret, .attachment, .document]
    if !hasPassword { roles.insert(.oldPassword) }
    for index in open(roles) { placeBeside(index, &naming) }
  }

  /// True if the value of the main item is a password, of which the source may have earlier values.
  var hasPassword: Bool { main.map { roles[$0] == .password } ?? false }

  /// A time of the source in the form of RFC 3339; a text that is no time stays as it is.
  private func timeText(of field: SourceField) -> String? { field.time.map(Timestamp.format) ?? field.attributeText }

  /// Keeps the time at which the main item expires. A time that has passed must not keep the item from being served,
  /// unless a vault has not served it either.
  private mutating func keepExpiry(_ index: Int) -> Bool {
    let field = entry.fields[index]
    let isEnforced = field.facts.mark == ImportedField.enforced
    guard let time = field.time, time > now || isEnforced, main != nil, expiry == nil else {
      return keep(index, as: freeKey(ImportKey.expires), timeText(of: field))
    }
    places[index] = FieldPlace(fate: .expiry)
    return true
  }

  /// The time at which the main item expires; nil if there is none.
  var expiry: Int64? {
    entry.fields.indices.lazy.compactMap { places[$0]?.fate == .expiry ? entry.fields[$0].time : nil }.first
  }

  /// Adds a label to the attribute `tags`, in which commas divide the labels. A label with a comma, or one for which
  /// there is no room, gets an attribute of its own.
  private mutating func keepTag(_ index: Int, _ text: String?) -> Bool {
    guard let text else { return false }
    let isDivided = text.utf8.contains(UInt8(ascii: ","))
    guard let tags = attributes["tags"], !isDivided,
      canJoin(tags), tags.utf8.count + 1 + text.utf8.count <= Attributes.maximumValueBytes
    else { return keep(index, as: freeKey("tags"), text) }
    attributes["tags"] = "\(tags),\(text)"
    places[index] = FieldPlace(fate: .attribute("tags"))
    return true
  }

  /// True unless the first label itself contains a comma, so that it must stay alone.
  private func canJoin(_ tags: String) -> Bool {
    let labels = entry.fields.indices.count { places[$0]?.fate == .attribute("tags") }
    return labels == tags.utf8.count { $0 == UInt8(ascii: ",") } + 1
  }
}
