internal import VaultModel
internal import VaultWire

// The sections of an item, each with a title and fields. The value of a field is an object whose only member names its
// type.
extension OnePasswordItem {
  /// The types of values that are useful by themselves, also within a document.
  private static let single: Set = ["totp", "file", "sshKey"]
  /// The members of a section and of a field that say how 1Password shows and edits it.
  private static let appearance: Set = [
    "indexAtSource", "guarded", "multiline", "dontGenerate", "inputTraits", "clipboardFilter", "placeholder",
    "hideAddAnotherField",
  ]

  mutating func takeSections(_ sections: [JSONValue]) throws(ImportFailure) {
    let document = category == nil ? "sections" : category?.document
    let main = document == nil ? mainField(sections) : nil
    var kept: [JSONValue] = []
    for (place, section) in sections.enumerated() {
      guard section.isObject else {
        entry.addUnknown("sections", section)
        continue
      }
      var rest: [JSONValue] = []
      for (number, field) in (section["fields"]?.elements ?? []).enumerated() {
        if document != nil, !Self.isSingle(field) {
          if field["value"]?.isBlank == false || !field.isObject { rest.append(Self.bare(field)) }
        } else {
          try addField(field, of: section, isMain: main.map { $0 == (place, number) } ?? false)
        }
      }
      if document == nil {
        addRest(of: section)
      } else if !rest.isEmpty || Self.hasMore(section) {
        kept.append(Self.bare(section, with: rest))
      }
    }
    if let document, !kept.isEmpty { entry.addDocument(document, .array(kept)) }
  }

  /// The place of the field that is the password of the item.
  private func mainField(_ sections: [JSONValue]) -> (section: Int, field: Int)? {
    if details["password"]?.isBlank == false { return nil }
    for id in category?.passwords ?? [] {
      for (place, section) in sections.enumerated() {
        let fields = section["fields"]?.elements ?? []
        let found = fields.firstIndex { field in
          field["id"]?.string == id
            && field["value"]?.members.contains { $0.value.string?.isEmpty == false } == true
        }
        if let found { return (place, found) }
      }
    }
    return nil
  }

  private static func isSingle(_ field: JSONValue) -> Bool {
    field["value"]?.members.contains { single.contains($0.name) } ?? false
  }

  // MARK: Documents

  /// The field without what only 1Password can use.
  private static func bare(_ field: JSONValue) -> JSONValue {
    guard case .object(let members) = field else { return field }
    return .object(members.filter { !appearance.contains($0.name) })
  }

  private static func bare(_ section: JSONValue, with fields: [JSONValue]) -> JSONValue {
    let members = section.members.filter { !appearance.contains($0.name) }
    return .object(
      members.map { member in
        member.name == "fields" ? JSONValue.Member(name: "fields", value: .array(fields)) : member
      })
  }

  /// True for a section with something besides its name and its fields.
  private static func hasMore(_ section: JSONValue) -> Bool {
    section.members.contains { member in
      !appearance.contains(member.name) && !["title", "name", "fields"].contains(member.name) && !member.value.isBlank
    }
  }

  // MARK: Fields

  /// Adds what a section has besides its fields. Its title is a part of the names of the fields.
  private mutating func addRest(of section: JSONValue) {
    for member in section.members where !Self.appearance.contains(member.name) {
      switch member.name {
      case "title", "name": break
      case "fields" where member.value.isArray: break
      default: entry.addUnknown("section: \(member.name)", member.value)
      }
    }
  }

  private mutating func addField(
    _ field: JSONValue, of section: JSONValue, isMain: Bool
  ) throws(ImportFailure) {
    guard field.isObject else { return entry.addUnknown("fields", field) }
    let id = field["id"]?.string ?? ""
    // The names are cut at once, because each field of the section and each member of the field has them in its own.
    let longest = ImportedField.longestName
    let title = ([field["title"]?.string ?? "", id].first { !$0.isEmpty } ?? "field").cut(longest)
    let heading = (section["title"]?.string ?? "").cut(longest)
    let name = heading.isEmpty ? title : "\(heading): \(title)"
    for member in field.members {
      switch member.name {
      case "title", "id": if member.value.string == nil { entry.addUnknown("\(name): \(member.name)", member.value) }
      case "value" where member.value.isObject:
        for value in member.value.members { try addValue(value, name, id: id, isMain: isMain) }
      case "value": entry.addUnknown(name, member.value)
      case _ where Self.appearance.contains(member.name): break
      default: entry.addUnknown("\(name): \(member.name)", member.value)
      }
    }
  }

  private mutating func addValue(
    _ member: JSONValue.Member, _ name: String, id: String, isMain: Bool
  ) throws(ImportFailure) {
    let value = member.value
    if isMain { return add(name, .password, value) }
    if addNetwork(id, value) { return }
    switch member.name {
    case "concealed", "creditCardNumber": add(name, .secret, value)
    case "string" where category?.users.contains(id) == true: add(name, .username, value)
    case "string" where category == .server && id == "url": add(name, .url, value)
    case "string", "phone", "menu", "gender", "creditCardType", "reference": add(name, .text, value)
    case "url": add(name, .url, value)
    case "totp":
      if let text = value.string { entry.putOneTime(name, text) } else { entry.addUnknown(name, value) }
    case "date": addDate(name, id: id, value)
    case "monthYear": addMonth(name, value)
    case "email" where value.isObject: addEmail(name, value)
    case "email": add(name, .text, value)
    case "sshKey" where value.isObject: addKey(name, value)
    case "file" where value.isObject: try addFile(value, named: name)
    default: entry.addUnknown(name, value)
    }
  }

  /// Adds a day. 1Password writes it as the time 12:01 in UTC.
  private mutating func addDate(_ name: String, id: String, _ value: JSONValue) {
    guard let time = value.integer, abs(time) <= Timestamp.last else { return entry.addUnknown(name, value) }
    if category == .credential, id == "expires", time > 0 { return entry.add(name, .expires, String(time)) }
    let text = Timestamp.format(time)
    entry.add(name, .text, text.hasSuffix("T12:01:00Z") ? String(text.prefix(10)) : text)
  }

  /// Adds a month, which is written as the number 202512.
  private mutating func addMonth(_ name: String, _ value: JSONValue) {
    guard let number = value.integer, (100...999_999).contains(number) else {
      if value.integer != 0 { entry.addUnknown(name, value) }
      return
    }
    let month = number % 100
    entry.add(name, .text, "\(number / 100)-\(month < 10 ? "0" : "")\(month)")
  }

  private mutating func addEmail(_ name: String, _ value: JSONValue) {
    for member in value.members {
      if member.name == "email_address" {
        add(name, .text, member.value)
      } else {
        entry.addSetting("\(name): \(member.name)", member.value)
      }
    }
  }
}
