internal import VaultBytes
internal import VaultWire

/// The entries of one kubeconfig: its users, and its settings.
struct KubeconfigAccount {
  static let folder = "kubectl"
  /// The most bytes of the address of a cluster that is more than a setting.
  private static let longestAddress = 4096

  private(set) var entries: [Entry] = []
  /// The paths of the files whose content is in the entries.
  private(set) var used: Set<String> = []
  /// The addresses of the clusters, by the names of the users who have a context there.
  private var servers: [String: [String]] = [:]

  init(_ root: YAMLNode, _ file: Source.File, of source: Source) {
    let users = root["users"]?.elements ?? []
    let names = Set(users.compactMap { $0["name"]?.text })
    let joined = join(root, names)
    for (index, user) in users.enumerated() {
      var entry = KubeconfigUser(user, number: index + 1, file, source)
      for server in servers[user["name"]?.text ?? ""] ?? [] { entry.entry.put("server", .url, server) }
      entries.append(entry.entry)
      used.formUnion(entry.used)
    }
    addSettings(root, without: joined, file)
  }

  /// Finds the clusters of the users, and returns the names of those clusters.
  private mutating func join(_ root: YAMLNode, _ users: Set<String>) -> Set<String> {
    var addresses: [String: String] = [:]
    for cluster in root["clusters"]?.elements ?? [] {
      guard let name = cluster["name"]?.text, let server = cluster["cluster"]?["server"]?.text,
        // Each of its users gets the address.
        server.utf8.count <= Self.longestAddress
      else { continue }
      addresses[name] = server
    }
    var joined: Set<String> = []
    for context in root["contexts"]?.elements ?? [] {
      guard let user = context["context"]?["user"]?.text, users.contains(user),
        let cluster = context["context"]?["cluster"]?.text, let server = addresses[cluster]
      else { continue }
      joined.insert(cluster)
      if servers[user]?.contains(server) != true { servers[user, default: []].append(server) }
    }
    return joined
  }

  private mutating func addSettings(_ root: YAMLNode, without joined: Set<String>, _ file: Source.File) {
    var settings = Entry(of: [Self.folder], named: "settings of \(file.name)")
    for member in root.members where member.name != "users" {
      for leaf in member.value.leaves {
        let text = leaf.node.bytes ?? []
        let path = ([member.name] + leaf.path).joined(separator: ".")
        let element = leaf.path.first.flatMap { member.value.element(at: $0) }
        let isServer = member.name == "clusters" && leaf.path.dropFirst().elementsEqual(["cluster", "server"])
        if isServer, let name = element?["name"]?.text, joined.contains(name) { continue }
        settings.fields.append(Field(path, URLText.hasPassword(text) ? .secret : .setting, text))
      }
    }
    if !settings.fields.isEmpty { entries.append(settings) }
  }
}
