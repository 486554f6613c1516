internal import VaultWire

/// The entry for an account of Aegis. Whatever else it has becomes fields, too.
struct AegisEntry {
  private(set) var entry: Entry

  /// - Parameter groups: The names of the groups by their ids.
  init(_ value: JSONValue, in groups: [String: String]) {
    let info = value["info"]
    var account = AuthenticatorAccount(issuer: value["issuer"]?.string ?? "", name: value["name"]?.string ?? "")
    account.type = value["type"]?.string?.lowercased() ?? ""
    account.secret = info?["secret"]
    account.algorithm = info?["algo"]
    account.digits = info?["digits"]
    account.period = info?["period"]
    account.counter = info?["counter"]
    let places = Self.groups(of: value, in: groups)
    let kept = [JSONValue.Member(name: "type", value: .string(account.type))]
    entry = account.entry(
      id: value["uuid"]?.string ?? "", folder: places.first.map { [$0] } ?? [],
      members: kept + (info?.members.filter { $0.name != "type" } ?? []))
    for place in places.dropFirst() { entry.addUnlessEmpty("group", .tag, place) }
    for member in value.members { take(member, groups) }
    // A document holds all of them.
    guard entry.kind == .oneTime else { return }
    let known: Set = ["secret", "algo", "digits", "period", "counter"]
    for member in info?.members ?? [] where !known.contains(member.name) {
      entry.addUnknown(member.name, member.value)
    }
  }

  /// The names of the groups that contain the account. Version 2 of the content has one name and no ids.
  private static func groups(of value: JSONValue, in groups: [String: String]) -> [String] {
    let names = value["groups"]?.elements.compactMap { $0.string.flatMap { groups[$0] } } ?? []
    return ([value["group"]?.string ?? ""] + names).filter { !$0.isEmpty }
  }

  private mutating func take(_ member: JSONValue.Member, _ groups: [String: String]) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "type", "uuid", "name", "issuer", "group": if value.string == nil { entry.addUnknown(name, value) }
    case "info": if !value.isObject { entry.addUnknown(name, value) }
    case "groups" where value.isArray:
      for id in value.elements where id.string.flatMap({ groups[$0] }) == nil {
        entry.put("group", .setting, id.string ?? "")
      }
    case "note": if let text = value.string { entry.put(name, .note, text) } else { entry.addUnknown(name, value) }
    case "favorite": if value.bool != false { entry.addUnknown(name, value) }
    case "icon", "icon_mime", "icon_hash":
      if let text = value.string { entry.put(name, .setting, text) } else { entry.addUnknown(name, value) }
    default: entry.addUnknown(name, value)
    }
  }
}
