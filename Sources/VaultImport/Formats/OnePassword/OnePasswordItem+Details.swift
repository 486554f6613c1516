internal import VaultWire

// The details of an item: the fields of a login, the note, the history, and a document's file.
extension OnePasswordItem {
  mutating func takeDetails() throws(ImportFailure) {
    for member in details.members {
      let (name, value) = (member.name, member.value)
      switch name {
      case "loginFields" where value.isArray: for field in value.elements { addLogin(field) }
      case "password": add(name, hasLoginPassword ? .secret : .password, value)
      case "notesPlain": add("note", .note, value)
      case "sections" where value.isArray: try takeSections(value.elements)
      case "passwordHistory" where value.isArray: addHistory(value.elements)
      case "documentAttributes" where value.isObject: try addFile(value, named: "document")
      default: entry.addUnknown(name, value)
      }
    }
  }

  /// The kind of the entry by what it has.
  var kind: ImportedEntry.Kind {
    func has(_ role: ImportedField.Role) -> Bool { entry.fields.contains { $0.role == role && $0.refusal == nil } }
    if isNetwork { return .wifi }
    if has(.password) {
      switch category {
      case .sshKey: return .sshKey
      case .credential: return .token
      default: return .login
      }
    }
    if category == .document, entry.fields.contains(where: { $0.role == .attachment }) { return .file }
    let isDocument = category == nil || category?.document != nil
    if isDocument, has(.document) { return .document }
    if has(.note), !has(.username), !has(.url), !has(.oneTime) { return .note }
    return has(.document) ? .document : .login
  }

  // MARK: Logins

  private var hasLoginPassword: Bool {
    details["loginFields"]?.elements.contains { Self.isPassword($0) && $0["value"]?.isBlank == false } ?? false
  }

  private static func isPassword(_ field: JSONValue) -> Bool { field["designation"]?.string == "password" }

  /// Adds a field of the form with which somebody logged in.
  private mutating func addLogin(_ field: JSONValue) {
    guard field.isObject else { return entry.addUnknown("loginFields", field) }
    // The name is cut at once, because each further member of the field has it in its own.
    let given = [field["name"], field["id"]].compactMap { $0?.string }.first { !$0.isEmpty }
    let name = (given ?? "field").cut(ImportedField.longestName)
    for member in field.members {
      switch member.name {
      case "value": addLogin(name, Self.role(field, name), member.value)
      // The name and the id are those in the page; the type and the designation decide about the role.
      case "name", "id", "fieldType", "designation": break
      default: entry.addUnknown("\(name): \(member.name)", member.value)
      }
    }
  }

  /// Adds the value of such a field. An address of an alias service is an object.
  private mutating func addLogin(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard value.isObject, let address = value["email_address"] else { return add(name, role, value) }
    add(name, role, address)
    for member in value.members where member.name != "email_address" {
      entry.addSetting("\(name): \(member.name)", member.value)
    }
  }

  /// The role of a field by its designation, or else by its type: text, email, URL, number, password, text area,
  /// telephone and checkbox. A text in a page can be anything.
  private static func role(_ field: JSONValue, _ name: String) -> ImportedField.Role {
    switch field["designation"]?.string {
    case "username": return .username
    case "password": return .password
    default: break
    }
    return field["fieldType"]?.string == "P" ? .secret : FieldName.role(name)
  }

  // MARK: History

  /// Adds the earlier passwords, the oldest first.
  private mutating func addHistory(_ history: [JSONValue]) {
    let old = history.map { (value: $0, time: $0["time"]?.integer.flatMap { SourceTime.unix(String($0)) }) }
    let times = old.compactMap(\.time)
    // The sort is stable. Without all the times, the order of the source, the newest first, is the better one.
    let sorted =
      times.count == old.count
      ? old.enumerated().sorted { (times[$0.offset], $0.offset) < (times[$1.offset], $1.offset) }.map(\.element)
      : old.reversed()
    for (value, time) in sorted {
      guard value.isObject else {
        entry.addUnknown("passwordHistory", value)
        continue
      }
      for member in value.members {
        switch member.name {
        case "value":
          guard let text = member.value.string else {
            entry.addUnknown("old password", member.value)
            continue
          }
          if !text.isEmpty { entry.add("password", .oldPassword, text, time: time) }
        case "time": if time == nil { entry.addSetting("time of an old password", member.value) }
        default: entry.addUnknown("passwordHistory: \(member.name)", member.value)
        }
      }
    }
  }

  // MARK: Files

  /// Adds a file by what the item says of it.
  mutating func addFile(_ facts: JSONValue, named usual: String) throws(ImportFailure) {
    let id = facts["documentId"]?.string ?? ""
    let size = facts["decryptedSize"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    let name = facts["fileName"]?.string ?? ""
    try files.add(document: id, named: name, usual, declared: max(0, size), to: &entry)
    for member in facts.members where !["fileName", "documentId", "decryptedSize"].contains(member.name) {
      entry.addSetting("\(usual): \(member.name)", member.value)
    }
  }
}
