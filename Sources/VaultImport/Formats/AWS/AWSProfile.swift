internal import VaultBytes
internal import VaultWire

/// A profile of AWS with the options of all files.
struct AWSProfile {
  /// The options that hold the parts of credentials. Older programs write the session's token under the second name.
  private enum Part: String {
    case id = "aws_access_key_id"
    case secret = "aws_secret_access_key"
    case token = "aws_session_token"
    case oldToken = "aws_security_token"
  }

  /// The options in which programs that get temporary credentials write their expiry: aws-mfa, aws-okta, saml2aws and
  /// others. AWS itself has none.
  private static let expiries: Set = [
    "expiration", "aws_expiration", "aws_session_expiration", "aws_session_token_expiration",
    "aws_credential_expiration", "x_security_token_expires",
  ]

  let name: String
  var options: [SectionFile.Option] = []

  init(_ name: String) { self.name = name }

  /// The name of the profile of a section; nil for a section of something else.
  static func name(_ section: String) -> String? {
    var words = section.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2 else { return section == "plugins" || section == "preview" ? nil : section }
    guard words[0] == "profile" else { return ["sso-session", "services"].contains(words[0]) ? nil : section }
    // Names with blanks stand between quotes.
    while let first = words[1].first, [" ", "\t"].contains(first) { words[1].removeFirst() }
    for quote in ["\"", "'"] where words[1].count > 1 && words[1].hasPrefix(quote) && words[1].hasSuffix(quote) {
      words[1] = String(words[1].dropFirst().dropLast())
    }
    return words[1]
  }

  private func index(_ part: Part) -> Int? {
    options.firstIndex { $0.name == part.rawValue && !$0.value.isEmpty }
  }

  var entry: Entry {
    let (id, secret, token) = (index(.id), index(.secret), index(.token) ?? index(.oldToken))
    let isSession = id != nil && secret != nil && token != nil
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    var entry = Entry(isSession ? .note : .login, at: ["aws"] + parts)
    entry.add("profile", .text, name)
    if let id, let secret, let token { putSession(id, secret, token, &entry) }
    for (index, option) in options.enumerated() where !isSession || ![id, secret, token].contains(index) {
      put(option, isFirst: index == id || index == secret, &entry)
    }
    return entry
  }

  private func put(_ option: SectionFile.Option, isFirst: Bool, _ entry: inout Entry) {
    switch option.name {
    // The name that `vault helper aws` looks for.
    case Part.id.rawValue: entry.put(isFirst ? "access-key-id" : option.name, .text, option.value)
    case Part.secret.rawValue: entry.put(option.name, isFirst ? .password : .secret, option.value)
    case Part.token.rawValue, Part.oldToken.rawValue: entry.put(option.name, .secret, option.value)
    case "credential_process":
      entry.addSetting(option.name, size: option.value.count, "the credentials come from the program that it names")
    case let name where Self.expiries.contains(name): putExpiry(option, &entry)
    case let name where FieldName.role(name) == .secret && !name.hasPrefix("sso_") && name != "mfa_serial":
      entry.put(name, .secret, option.value)
    default: entry.addSetting(option.name, size: option.value.count)
    }
  }

  private func putExpiry(_ option: SectionFile.Option, _ entry: inout Entry) {
    if let time = expiry(option) {
      entry.fields.append(Field(option.name, .expires, Array(String(time).utf8)))
    } else {
      entry.addSetting(option.name, size: option.value.count, "it is no time that can be read")
    }
  }

  private func expiry(_ option: SectionFile.Option) -> Int64? {
    let text = option.value[...].text
    return SourceTime.iso8601(text) ?? SourceTime.unix(text)
  }

  /// Puts temporary credentials as the JSON that `aws sts` prints.
  private func putSession(_ id: Int, _ secret: Int, _ token: Int, _ entry: inout Entry) {
    func member(_ name: String, _ index: Int) -> JSONValue.Member {
      JSONValue.Member(name: name, value: .string(options[index].value[...].text))
    }
    var members = [
      member("AccessKeyId", id), member("SecretAccessKey", secret), member("SessionToken", token),
    ]
    if let time = options.first(where: { Self.expiries.contains($0.name) }).flatMap(expiry) {
      members.append(JSONValue.Member(name: "Expiration", value: .number(String(time))))
    }
    let names = [id, secret, token].map { options[$0].name }
    entry.put(names.joined(separator: ", "), .note, JSONValue.object(members).json)
  }
}
