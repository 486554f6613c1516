internal import VaultWire

/// The entry for an item of an exchange, which has any number of credentials.
struct CXFItem {
  /// The types of credentials that become fields; any other is kept whole, as a document.
  enum Credential: String {
    case basicAuth = "basic-auth"
    case apiKey = "api-key"
    case sshKey = "ssh-key"
    case wifi
    case generatedPassword = "generated-password"
    case totp
    case note
    case file
    case customFields = "custom-fields"
    case itemReference = "item-reference"
  }

  var entry: Entry
  /// The type of the credential that gives the item its value; nil for a document, and for no value.
  private(set) var main: Credential?
  /// True once the item has its value.
  var hasValue = false

  init(_ item: JSONValue, in collections: CXFCollections, _ outer: [String]) throws(ImportFailure) {
    guard item.isObject else { throw ImportFailure(.damaged, "an item is no object") }
    let id = item["id"]?.string ?? ""
    let places = collections[id]
    let title = item["title"]?.string ?? ""
    entry = Entry(.login, id: id, folder: outer + (places.first ?? []), title: title)
    for place in places.dropFirst() { entry.add("collection", .tag, place.joined(separator: "/")) }
    let credentials = item["credentials"]?.elements ?? []
    main = Self.main(of: credentials)
    for member in item.members { take(member) }
    for credential in credentials { take(credential) }
    // Extensions come last: the first document of an entry is its value.
    if let extensions = item["extensions"] { entry.addUnknown("extensions", extensions) }
    entry.kind = kind
  }

  private mutating func take(_ member: JSONValue.Member) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "id", "title": if value.string == nil { entry.addUnknown(name, value) }
    case "credentials" where value.isArray: break
    case "extensions": break
    case "creationAt": addTime(name, .created, value)
    case "modifiedAt": addTime(name, .modified, value)
    case "subtitle": add(name, .text, value)
    case "favorite": if value.bool != false { entry.addUnknown(name, value) }
    case "tags" where value.isArray: for tag in value.elements { add("tag", .tag, tag) }
    case "scope" where value.isObject: for member in value.members { takeScope(member) }
    // Drafts of the format have a type of the item.
    case "type": entry.addSetting(name, value)
    default: entry.addUnknown(name, value)
    }
  }

  /// Takes the addresses and the programs for which the credentials are.
  private mutating func takeScope(_ member: JSONValue.Member) {
    switch member.name {
    case "urls" where member.value.isArray: for url in member.value.elements { add("url", .url, url) }
    case "androidApps" where member.value.isArray:
      for app in member.value.elements {
        guard app.isObject else {
          entry.addUnknown("androidApps", app)
          continue
        }
        for part in app.members {
          guard part.name == "bundleId" else {
            entry.addSetting("androidApp: \(part.name)", part.value)
            continue
          }
          add("androidApp", .text, part.value)
        }
      }
    default: entry.addUnknown("scope: \(member.name)", member.value)
    }
  }

  private mutating func addTime(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let time = value.integer, SourceTime.unix(String(time)) != nil else { return entry.addSetting(name, value) }
    entry.add(name, role, String(time))
  }

  /// Adds a member that should be a text.
  mutating func add(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let text = value.string else { return entry.addUnknown(name, value) }
    entry.addUnlessEmpty(name, role, text)
  }

  // MARK: The value

  /// The type of the credential that gives the item its value, by the use that a person has of it.
  private static func main(of credentials: [JSONValue]) -> Credential? {
    func has(_ type: Credential, _ name: StaticString) -> Bool {
      credentials.contains { credential in
        guard credential["type"]?.string == type.rawValue, let value = credential[name] else { return false }
        return CXFField(value).text?.isEmpty == false
      }
    }
    if has(.basicAuth, "password") { return .basicAuth }
    if has(.apiKey, "key") { return .apiKey }
    if has(.sshKey, "privateKey") { return .sshKey }
    if has(.wifi, "passphrase") { return .wifi }
    if has(.generatedPassword, "password") { return .generatedPassword }
    let isWhole = credentials.contains { $0["type"]?.string.map { Credential(rawValue: $0) == nil } ?? true }
    if isWhole { return nil }
    if has(.totp, "secret") { return .totp }
    return has(.note, "content") ? .note : nil
  }

  private var kind: ImportedEntry.Kind {
    func has(_ role: ImportedField.Role) -> Bool { entry.fields.contains { $0.role == role && $0.refusal == nil } }
    if has(.password) {
      switch main {
      case .apiKey: return .token
      case .sshKey: return .sshKey
      case .wifi: return .wifi
      default: return .login
      }
    }
    switch main {
    case .totp: return has(.oneTime) ? .oneTime : has(.document) ? .document : .login
    case .note: return has(.username) ? .login : .note
    default: return has(.document) ? .document : .login
    }
  }
}
