internal import VaultBytes
internal import VaultWire

/// One Secret of Kubernetes (core/v1). Its keys are items beside each other, in the folder of its namespace and its
/// name. The password of a `kubernetes.io/basic-auth` is an item with its user, and so is each registry of a
/// `kubernetes.io/dockerconfigjson`.
struct KubernetesSecret {
  private(set) var entries: [Entry] = []
  private var entry: Entry
  private let folder: [String]
  private let type: String

  init(_ object: YAMLNode) {
    let metadata = object["metadata"]
    // Each registry of the Secret has the names in its own, so they are cut at once.
    let longest = ImportedField.longestName
    let space = (metadata?["namespace"]?.text ?? "default").cut(longest)
    let name = (metadata?["name"]?.text ?? metadata?["generateName"]?.text ?? "").cut(longest)
    type = object["type"]?.text ?? "Opaque"
    folder = ["kubernetes", space, name]
    entry = Entry(.login, id: "\(space)/\(name)", folder: ["kubernetes", space], title: name)
    let plain = Set((object["stringData"]?.members ?? []).map(\.name))
    for member in object["data"]?.members ?? [] { addData(member, replaced: plain.contains(member.name)) }
    for member in object["stringData"]?.members ?? [] { add(member.name, member.value.bytes ?? [], "stringData") }
    for member in object.members where !["data", "stringData"].contains(member.name) { addSettings(member) }
    entries.insert(entry, at: 0)
  }

  private mutating func addData(_ member: YAMLNode.Member, replaced: Bool) {
    let text = member.value.isNull ? [] : member.value.bytes ?? []
    guard !replaced else {
      return entry.refuse("data.\(member.name)", .oldField, size: text.count, "stringData has the same key")
    }
    guard let value = KubernetesText.decoded(text) else {
      return entry.refuse(member.name, .secret, size: text.count, "it is not base64")
    }
    add(member.name, value, "data")
  }

  private mutating func add(_ key: String, _ value: [UInt8], _ group: String) {
    switch (type, key) {
    case ("kubernetes.io/basic-auth", "username"): entry.put(key, .username, value)
    case ("kubernetes.io/basic-auth", "password"): entry.put(key, .password, value)
    case ("kubernetes.io/dockerconfigjson", ".dockerconfigjson"), ("kubernetes.io/dockercfg", ".dockercfg"):
      let isOld = key == ".dockercfg"
      if let registries = DockerRegistries(value, isOld: isOld, folder: folder), !registries.entries.isEmpty {
        entries += registries.entries
        for (name, text) in registries.settings { entry.fields.append(Field("\(key).\(name)", .setting, text)) }
      } else {
        entry.put(key, .secret, value)
      }
    default:
      // An empty value is one, too, and the account says that it is not stored.
      if value.isEmpty { entry.add(key, .secret, "") } else { entry.put(key, .secret, value) }
    }
  }

  private mutating func addSettings(_ member: YAMLNode.Member) {
    for leaf in member.value.leaves {
      let text = leaf.node.bytes ?? []
      let path = ([member.name] + leaf.path).joined(separator: ".")
      switch path {
      case "metadata.creationTimestamp":
        if let time = leaf.node.text.flatMap({ SourceTime.iso8601($0) }) {
          entry.add(path, .created, String(time))
        } else {
          entry.fields.append(Field(path, .setting, text))
        }
      // The title and the folder have them.
      case "metadata.name", "metadata.namespace": continue
      default: entry.fields.append(Field(path, .setting, text))
      }
    }
  }
}
