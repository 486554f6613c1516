internal import VaultWire

/// The entry for a service of 2FAS. Whatever else it has becomes fields, too.
struct TwoFASEntry {
  private(set) var entry: Entry
  private let account: AuthenticatorAccount
  private let otp: JSONValue?

  /// - Parameter groups: The names of the groups by their ids.
  init(_ value: JSONValue, in groups: [String: String]) {
    let otp = value["otp"]
    self.otp = otp
    let name = value["name"]?.string ?? ""
    let issuer = otp?["issuer"]?.string ?? ""
    var account = AuthenticatorAccount(
      issuer: issuer.isEmpty ? name : issuer, name: otp?["account"]?.string ?? "")
    // Earlier versions write codes that are based on time alone.
    account.type = otp?["tokenType"]?.string?.lowercased() ?? account.type
    account.secret = value["secret"]
    account.algorithm = otp?["algorithm"]
    account.digits = otp?["digits"]
    account.period = otp?["period"]
    account.counter = otp?["counter"]
    self.account = account
    let group = value["groupId"]?.string.flatMap { groups[$0] } ?? ""
    let title = AuthenticatorAccount(issuer: name.isEmpty ? account.issuer : name, name: account.name).title
    entry = account.entry(
      folder: group.isEmpty ? [] : [group], title: title,
      members: value.members.filter { ["secret", "otp"].contains($0.name) })
    for member in value.members { take(member, groups) }
    // A document holds all of them.
    if entry.kind == .oneTime { for member in otp?.members ?? [] { takeCodes(member) } }
  }

  private mutating func take(_ member: JSONValue.Member, _ groups: [String: String]) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "name": if value.string == nil { entry.addUnknown(name, value) }
    case "secret": break
    case "otp": if !value.isObject { entry.addUnknown(name, value) }
    case "groupId":
      if value.string.flatMap({ groups[$0] }) == nil { entry.put(name, .setting, value.string ?? "") }
    case "updatedAt":
      // The time is in milliseconds.
      guard case .number(let text) = value, let time = SourceTime.unix(text, perSecond: 1000) else {
        return entry.addUnknown(name, value)
      }
      entry.add(name, .modified, String(time))
    case "order", "badge", "icon", "type", "serviceTypeID": entry.put(name, .setting, Self.setting(value))
    default: entry.addUnknown(name, value)
    }
  }

  /// Takes a member that says how the codes are made, unless the URI has it.
  private mutating func takeCodes(_ member: JSONValue.Member) {
    let (name, value) = (member.name, member.value)
    switch name {
    case "account", "issuer", "digits", "period", "algorithm", "counter", "tokenType": break
    case "label":
      let whole = "\(account.issuer):\(account.name)"
      guard let text = value.string, ![account.name, account.issuer, whole].contains(text) else { break }
      entry.put(name, .text, text)
    case "link":
      guard let text = value.string, !text.isEmpty else { break }
      guard repeats(text) else { return entry.put(name, .secret, text) }
      entry.refuse(name, .setting, size: text.utf8.count, "it repeats the secret of the service")
    case "source": entry.put(name, .setting, Self.setting(value))
    default: entry.addUnknown(name, value)
    }
  }

  /// True if a link has the service's own secret.
  private func repeats(_ link: String) -> Bool {
    guard let secret = account.secret?.string, !secret.isEmpty else { return false }
    return link.split(whereSeparator: { "?&".contains($0) }).contains { $0 == "secret=\(secret)" }
  }

  /// A setting as text; empty for null.
  private static func setting(_ value: JSONValue) -> String {
    if case .null = value { return "" }
    return value.string ?? String(decoding: value.json, as: UTF8.self)
  }
}
