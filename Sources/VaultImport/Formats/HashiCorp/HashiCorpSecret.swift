internal import VaultBytes
internal import VaultWire

/// A secret in an answer of HashiCorp Vault (HTTP API, "KV secrets engine", versions 1 and 2).
struct HashiCorpSecret {
  private let answer: JSONValue
  private let path: [String]

  init(_ answer: JSONValue, _ file: Source.File) {
    self.answer = answer
    var name = file.name
    if name.hasSuffix(".json"), name.utf8.count > 5 { name = String(name.dropLast(5)) }
    path = file.folders + [name]
  }

  /// True for the second version of the engine, which has the secret and its metadata in `data`.
  var isSecondVersion: Bool {
    guard let data = answer["data"], data.members.count <= 2, data["metadata"]?["version"] != nil else { return false }
    return data.members.allSatisfy { $0.name == "data" || $0.name == "metadata" }
  }

  var entry: Entry {
    var entry = Entry(.login, at: path)
    let data = answer["data"]
    let members = (isSecondVersion ? data?["data"] : data)?.members ?? []
    var hasPassword = false
    for member in members { put(member, &hasPassword, &entry) }
    for member in data?["metadata"]?.members ?? [] where isSecondVersion { putMetadata(member, &entry) }
    for member in answer.members where member.name != "data" {
      entry.addSetting(member.name, size: member.value.json.count)
    }
    return entry
  }

  private func put(_ member: JSONValue.Member, _ hasPassword: inout Bool, _ entry: inout Entry) {
    let text: String
    switch member.value {
    case .null: return entry.addSetting(member.name, size: 0, "it has no value")
    case .object, .array:
      if member.value.isBlank { return entry.addSetting(member.name, size: 2, "it has no value") }
      return entry.fields.append(Field(member.name, .document, member.value.json, mediaType: Entry.jsonType))
    case .string(let string): text = string
    case .number(let number): text = number
    case .bool(let flag): text = flag ? "true" : "false"
    }
    guard !text.isEmpty else { return entry.add(member.name, .secret, "") }
    switch member.name.lowercased() {
    case "password" where !hasPassword, "passwd" where !hasPassword:
      hasPassword = true
      entry.put(member.name, .password, text)
    case "username", "user", "login": entry.put(member.name, .username, text)
    case "url", "uri": entry.put(member.name, .url, text)
    default: entry.put(member.name, .secret, text)
    }
  }

  private func putMetadata(_ member: JSONValue.Member, _ entry: inout Entry) {
    switch member.name {
    case "custom_metadata":
      for own in member.value.members {
        guard let text = own.value.string else { continue }
        entry.put(own.name, FieldName.role(own.name), text)
      }
    case "created_time":
      guard let text = member.value.string, let time = SourceTime.iso8601(text) else { fallthrough }
      entry.add(member.name, .created, String(time))
    case "deletion_time" where member.value.string?.isEmpty == false:
      entry.addSetting(member.name, size: member.value.json.count, "the version is deleted, and its data is gone")
    default: entry.addSetting(member.name, size: member.value.json.count)
    }
  }
}
