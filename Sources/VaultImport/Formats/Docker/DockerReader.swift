internal import VaultBytes
internal import VaultWire

/// The reader of docker's `config.json`, of podman's `auth.json`, which is alike, and of the older `.dockercfg`, which
/// consists of the registries alone (docker/cli, cli/config/configfile/file.go).
///
/// A registry is the item that `vault helper docker` looks up: `docker/ghcr.io`, with the attribute `username`.
enum DockerReader: CredentialFile {
  static let format = FileFormat.docker
  static let detail = "docker's credentials"
  private static let stores: Set = ["auths", "credsStore", "credHelpers"]

  static func isNamed(_ file: Source.File) -> Bool {
    file.isNamed(".dockercfg") || file.isNamed("config.json", "auth.json") && isAlike(file)
  }

  static func isAlike(_ file: Source.File) -> Bool {
    var isDocker = false
    // The beginning may end anywhere; what was read until then remains.
    var reader = JSONReader(Array(file.bytes.prefix(64 << 10)))
    try? reader.object { name, reader throws(ImportFailure) in
      guard stores.contains(name) else { return }
      switch try reader.next() {
      case .beginObject: isDocker = name != "credsStore"
      case .string: isDocker = name == "credsStore"
      case .endObject, .beginArray, .endArray, .key, .number, .bool, .null, .end: break
      }
      throw ImportFailure(.failed, "no more is read")
    }
    return isDocker
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      var reader = JSONReader(file.bytes)
      let root = try reader.value()
      try reader.finish()
      guard root.isObject else { throw ImportFailure(.damaged, "the JSON is no object") }
      let members = file.isNamed(".dockercfg") ? [JSONValue.Member(name: "auths", value: root)] : root.members
      var settings = Entry(settingsOf: file)
      let store = root["credsStore"]?.string
      let helpers = root["credHelpers"]?.members ?? []
      for member in members {
        switch member.name {
        case "auths":
          for auth in member.value.members {
            let helper = helpers.first { $0.name == auth.name }?.value.string ?? store
            try found.add(DockerRegistry(auth, helper: helper).entry)
          }
        case "credsStore": settings.addSetting(member.name, size: member.value.json.count, elsewhere(store))
        case "credHelpers":
          for helper in helpers {
            settings.addSetting(
              "credHelpers: \(helper.name)", size: helper.value.json.count, elsewhere(helper.value.string))
          }
        default: settings.addSetting(member.name, size: member.value.json.count)
        }
      }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
  }

  /// The reason why credentials are not imported that another program keeps.
  fileprivate static func elsewhere(_ helper: String?) -> String {
    "the credentials lie elsewhere: docker-credential-\(helper ?? "") keeps them, and `docker-credential-"
      + "\(helper ?? "") list` shows of which registries"
  }
}

/// The credentials of one registry (docker/cli, cli/config/types/authconfig.go).
private struct DockerRegistry {
  /// The user's name by which docker and its helpers tell an identity token from a password.
  private static let tokenUser = "<token>"

  let server: String
  let members: [JSONValue.Member]
  /// The program that keeps the credentials of the registry; nil if it is the file.
  let helper: String?

  init(_ auth: JSONValue.Member, helper: String?) {
    (server, members, self.helper) = (auth.name, auth.value.members, helper)
  }

  private func text(_ name: String) -> String? {
    members.first { $0.name == name }?.value.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  var entry: Entry {
    var entry = Entry(.login, at: ["docker", NameSegment.encode(URLSpelling(server).usual)])
    entry.add("server", .url, server)
    let token = text("identitytoken")
    if let token {
      entry.add("username", .username, Self.tokenUser)
      entry.put("identitytoken", .password, token)
    }
    var hasPassword = token != nil
    func put(password: some Collection<UInt8>, _ name: String) {
      entry.put(name, hasPassword ? .secret : .password, password)
      hasPassword = true
    }
    for member in members where member.name != "identitytoken" {
      guard let value = member.value.string else {
        entry.addUnknown(member.name, member.value)
        continue
      }
      switch member.name {
      case "auth":
        // docker cuts off the NUL characters that old versions wrote at the end.
        let decoded = [UInt8](base64: value).map { $0[...].prefix { $0 != 0 } }
        if let (user, password) = decoded?.divided(at: UInt8(ascii: ":")) {
          entry.put("auth", .username, user)
          if !password.isEmpty { put(password: password, "auth") }
        } else {
          entry.put("auth", .secret, value)
        }
      case "username": entry.put(member.name, .username, value)
      case "password": put(password: value.utf8, member.name)
      case "serveraddress", "email": entry.put(member.name, .text, value)
      default: entry.put(member.name, .secret, value)
      }
    }
    if !hasPassword, let helper {
      entry.addSetting("credentials", size: 0, DockerReader.elsewhere(helper))
    }
    return entry
  }
}
