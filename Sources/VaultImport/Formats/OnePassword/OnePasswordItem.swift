internal import VaultWire

/// The entry for an item of an export. Whatever an item has becomes fields.
struct OnePasswordItem {
  var entry: Entry
  let category: OnePasswordCategory?
  let details: JSONValue
  let files: OnePasswordFiles
  /// True for a router whose network has a name and a password, with which devices join it.
  let isNetwork: Bool
  /// True once an SSH key is the value of the item.
  var hasKey = false

  /// - Parameter item: an element of `items`. Earlier exports wrap an item as the member `item`, with its file beside
  ///   it.
  init(_ item: JSONValue, in folder: [String], _ files: OnePasswordFiles) throws(ImportFailure) {
    guard item.isObject else { throw ImportFailure(.damaged, "an item is no object") }
    let wrapped = item["item"].flatMap { $0.isObject ? $0 : nil }
    let inner = wrapped ?? item
    category = inner["categoryUuid"]?.string.flatMap { OnePasswordCategory(rawValue: $0) }
    details = inner["details"] ?? .null
    self.files = files
    isNetwork = category == .router && Self.isNetwork(details)
    entry = Entry(
      .login, id: inner["uuid"]?.string ?? "", folder: folder, title: inner["overview"]?["title"]?.string ?? "")
    for member in inner.members { try take(member) }
    for member in wrapped == nil ? [] : item.members where member.name != "item" { try takeOuter(member) }
    entry.kind = kind
  }

  private mutating func take(_ member: JSONValue.Member) throws(ImportFailure) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "uuid": if value.string == nil { entry.addUnknown(name, value) }
    case "categoryUuid": if category == nil { entry.addSetting(name, value) }
    case "favIndex": if value.integer != 0 { entry.addSetting("favorite", value) }
    case "createdAt": addTime(name, .created, value)
    case "updatedAt": addTime(name, .modified, value)
    case "state": takeState(value)
    case "trashed":
      if value.bool == true { entry.isTrashed = true } else if value.bool == nil { entry.addUnknown(name, value) }
    case "overview" where value.isObject: for member in value.members { takeOverview(member, of: value) }
    case "details" where value.isObject: try takeDetails()
    default: entry.addUnknown(name, value)
    }
  }

  /// Takes the state: an item is active, archived, or on its way out.
  private mutating func takeState(_ value: JSONValue) {
    switch value.string {
    case "active": break
    case "deleted", "trashed":
      entry.isTrashed = true
      entry.addSetting("state", value)
    default: entry.addSetting("state", value)
    }
  }

  private mutating func addTime(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let time = value.integer, SourceTime.unix(String(time)) != nil else { return entry.addSetting(name, value) }
    if time != 0 { entry.add(name, role, String(time)) }
  }

  /// Takes a member beside a wrapped item, which is its file.
  private mutating func takeOuter(_ member: JSONValue.Member) throws(ImportFailure) {
    let name = member.value["attrs"]?["fileName"]?.string ?? ""
    guard member.name == "file", let path = member.value["path"]?.string,
      try files.add(at: path, named: name, to: &entry)
    else { return entry.addUnknown(member.name, member.value) }
  }

  // MARK: The overview

  private mutating func takeOverview(_ member: JSONValue.Member, of overview: JSONValue) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "title": if value.string == nil { entry.addUnknown(name, value) }
    // The list of addresses begins with this one.
    case "url": if !Self.has(value, in: overview["urls"]) { add(name, .url, value) }
    case "urls" where value.isArray: for url in value.elements { addURL(url) }
    case "tags" where value.isArray:
      for tag in value.elements { add("tag", .tag, tag) }
    // 1Password makes these of the other fields: a second line for lists, and the strength of the password.
    case "subtitle", "ainfo", "ps", "pbe", "pgrng": break
    case "icons", "watchtowerExclusions": entry.addSetting(name, value)
    default: entry.addUnknown(name, value)
    }
  }

  private static func has(_ url: JSONValue, in list: JSONValue?) -> Bool {
    list?.elements.contains { $0["url"]?.string.map { Array($0.utf8) } == url.string.map { Array($0.utf8) } } ?? false
  }

  /// Adds an address; its label is the name of the field.
  private mutating func addURL(_ url: JSONValue) {
    guard url.isObject else { return add("url", .url, url) }
    let label = url["label"]?.string ?? ""
    for member in url.members where member.name != "label" {
      if member.name == "url" {
        add(label.isEmpty ? "url" : label, .url, member.value)
      } else {
        entry.addSetting(member.name, member.value)
      }
    }
  }

  /// Adds a member that should be a text.
  mutating func add(_ name: String, _ role: ImportedField.Role, _ value: JSONValue) {
    guard let text = value.string else { return entry.addUnknown(name, value) }
    entry.addUnlessEmpty(name, role, text)
  }
}
