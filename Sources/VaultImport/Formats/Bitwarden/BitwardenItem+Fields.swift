internal import VaultWire

// The custom fields of an item, and its history (FieldExport and PasswordHistoryExport in libs/common/src/models/export
// of bitwarden/clients).
extension BitwardenItem {
  /// The fields to which a custom field can be linked (libs/common/src/vault/enums/linked-id-type.enum.ts).
  private static let linked: [Int64: String] = [
    100: "username", 101: "password",
    300: "cardholderName", 301: "expMonth", 302: "expYear", 303: "code", 304: "brand", 305: "number",
    400: "title", 401: "middleName", 402: "address1", 403: "address2", 404: "address3", 405: "city", 406: "state",
    407: "postalCode", 408: "country", 409: "company", 410: "email", 411: "phone", 412: "ssn", 413: "username",
    414: "passportNumber", 415: "licenseNumber", 416: "firstName", 417: "lastName", 418: "fullName",
  ]

  /// The number of colons in an earlier value before which a name is looked for.
  private static let mostColons = 8

  /// Adds a custom field. One of an unknown type may be a secret.
  mutating func addCustom(_ field: JSONValue) {
    guard case .object(let members) = field else { return entry.addUnknown("fields", field) }
    let given = field["name"]?.string ?? ""
    // The name is cut at once, because each further member of the field has it in its own.
    let name = given.isEmpty ? "custom field" : given.cut(ImportedField.longestName)
    for member in members {
      switch member.name {
      case "name": if member.value.string == nil { entry.addUnknown("\(name): name", member.value) }
      case "value": add(name, Self.role(field), member.value)
      case "type": if Self.isUnknown(field) { entry.addUnknown("\(name): type", member.value) }
      case "linkedId":
        guard let id = member.value.integer, let target = Self.linked[id] else {
          entry.addUnknown("\(name): linkedId", member.value)
          continue
        }
        entry.add(name, .setting, "linked to \(target)")
      default: entry.addUnknown("\(name): \(member.name)", member.value)
      }
    }
  }

  /// The role of a custom field by its type: text, hidden, true or false, or linked to another one
  /// (libs/common/src/vault/enums/field-type.enum.ts).
  private static func role(_ field: JSONValue) -> ImportedField.Role {
    switch field["type"]?.integer {
    case 0, 2, 3: .text
    default: .secret
    }
  }

  private static func isUnknown(_ field: JSONValue) -> Bool {
    guard let type = field["type"] else { return false }
    return !(0...3).contains(type.integer ?? -1)
  }

  /// Adds the earlier passwords, the oldest first; the source begins with the newest.
  mutating func addHistory(_ history: [JSONValue]) {
    let old = history.reversed().map { (value: $0, time: $0["lastUsedDate"]?.string.flatMap { ISOTime.seconds($0) }) }
    let times = old.compactMap(\.time)
    // The sort is stable. Without all the times, the order of the source is the better one.
    let sorted =
      times.count == old.count
      ? old.enumerated().sorted { (times[$0.offset], $0.offset) < (times[$1.offset], $1.offset) }.map(\.element) : old
    for (value, time) in sorted { addOld(value, time) }
  }

  private mutating func addOld(_ value: JSONValue, _ time: Int64?) {
    guard case .object(let members) = value else { return entry.addUnknown("passwordHistory", value) }
    for member in members {
      switch member.name {
      case "password":
        guard let text = member.value.string else {
          entry.addUnknown("old password", member.value)
          continue
        }
        if !text.isEmpty { addOld(text, time) }
      case "lastUsedDate": if time == nil { addSetting("lastUsedDate", member.value) }
      default: entry.addUnknown("passwordHistory: \(member.name)", member.value)
      }
    }
  }

  /// Adds an earlier password, or an earlier value of a hidden custom field. Bitwarden keeps the latter among the
  /// passwords, as `NAME: VALUE` (updateModelfromExistingCipher in cipher.service.ts).
  private mutating func addOld(_ text: String, _ time: Int64?) {
    let bytes = Array(text.utf8)
    if let count = hiddenNameCount(bytes) {
      let (name, value) = (bytes.prefix(count), bytes.dropFirst(count + 2))
      guard !value.isEmpty else { return }
      entry.add(
        String(decoding: name, as: UTF8.self), .oldField, String(decoding: value, as: UTF8.self), time: time)
    } else if kind == .login {
      entry.add("password", .oldPassword, text, time: time)
    } else {
      entry.add("passwordHistory", .oldField, text, time: time)
    }
  }

  /// The size of the longest name of a hidden custom field that stands before a colon and a blank; nil if none does.
  private func hiddenNameCount(_ text: [UInt8]) -> Int? {
    var found: Int?
    var colons = 0
    for place in text.indices.dropLast() where text[place] == UInt8(ascii: ":") && text[place + 1] == UInt8(ascii: " ")
    {
      if hiddenNames.contains(Array(text[..<place])) { found = place }
      colons += 1
      if colons == Self.mostColons { break }
    }
    return found
  }
}
