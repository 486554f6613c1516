internal import VaultBytes
internal import VaultWire

/// The registries in a docker configuration that a Secret holds (config.json of docker's command line, `auths`; its old
/// form is that object by itself).
struct DockerRegistries {
  private(set) var entries: [Entry] = []
  /// The values beside the registries, with their names.
  private(set) var settings: [(name: String, text: [UInt8])] = []

  /// Reads the JSON; nil for any other text.
  init?(_ bytes: [UInt8], isOld: Bool, folder: [String]) {
    guard let root = try? JSONLeaves.value(bytes), root.isObject else { return nil }
    for member in isOld ? [JSONValue.Member(name: "auths", value: root)] : root.members {
      guard member.name == "auths", member.value.isObject else {
        settings.append((member.name, member.value.json))
        continue
      }
      for registry in member.value.members { entries.append(Self.entry(registry, folder)) }
    }
  }

  private static func entry(_ registry: JSONValue.Member, _ folder: [String]) -> Entry {
    let id = (folder.dropFirst() + [registry.name]).joined(separator: "/")
    var entry = Entry(.login, id: id, folder: folder, title: registry.name)
    entry.put("registry", .url, registry.name)
    let auth = registry.value["auth"]?.string.flatMap { KubernetesText.decoded(Array($0.utf8)) }
    let pair = auth.flatMap { auth in
      auth.firstIndex(of: UInt8(ascii: ":")).map { (user: auth[..<$0], password: auth[($0 + 1)...]) }
    }
    for member in registry.value.members {
      let text = member.value.string.map { Array($0.utf8) } ?? []
      switch member.name {
      case "username": entry.put(member.name, .username, text)
      case "password": entry.put(member.name, .password, text)
      case "email": entry.put(member.name, .text, text)
      case "auth":
        if let pair, says(registry.value, pair.user, pair.password) {
          entry.fields.append(Field(member.name, .setting, text))
        } else if let pair {
          entry.put("auth: user", .username, pair.user)
          entry.put("auth: password", registry.value["password"] == nil ? .password : .secret, pair.password)
        } else {
          entry.put(member.name, .secret, text)
        }
      default: entry.addUnknown(member.name, member.value)
      }
    }
    return entry
  }

  /// True if the members have a user and a password apart, so that `auth` only repeats them.
  private static func says(_ registry: JSONValue, _ user: ArraySlice<UInt8>, _ password: ArraySlice<UInt8>) -> Bool {
    user.elementsEqual((registry["username"]?.string ?? "").utf8)
      && password.elementsEqual((registry["password"]?.string ?? "").utf8)
  }
}
