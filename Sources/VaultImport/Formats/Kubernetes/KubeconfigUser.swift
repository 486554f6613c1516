internal import VaultBytes
internal import VaultWire

/// One user of a kubeconfig.
///
/// The value of the item is what the helper for kubectl gives out: a token, or else a client's key with its
/// certificate. A user who has neither has a password, which the helper knows by the user name beside it, and does not
/// give out for a token. Further secrets lie beside it.
struct KubeconfigUser {
  var entry: Entry
  private(set) var used: Set<String> = []
  private let user: YAMLNode
  private let file: Source.File
  private let source: Source
  private var hasMain = false

  init(_ element: YAMLNode, number: Int, _ file: Source.File, _ source: Source) {
    (self.file, self.source) = (file, source)
    user = element["user"] ?? YAMLNode(content: .mapping([]))
    let name = element["name"]?.text ?? "user \(number)"
    // The helper is given the whole name, and takes its slashes for folders.
    let parts = name.split(separator: "/").map(String.init)
    entry = Entry(
      .login, id: source.files.count > 1 ? "\(file.path):\(name)" : name,
      folder: [KubeconfigAccount.folder] + parts.dropLast(), title: parts.last ?? name)
    for member in element.members where !["name", "user"].contains(member.name) { addLeaves(member, by: nil) }
    addToken()
    addKey()
    for member in user.members { add(member) }
  }

  private mutating func addMain(_ name: String, _ value: [UInt8], _ kind: ImportedEntry.Kind) {
    guard !value.isEmpty else { return entry.add(name, .setting, "") }
    if !hasMain { entry.kind = kind }
    entry.put(name, hasMain ? .secret : .password, value)
    hasMain = true
  }

  private mutating func addToken() {
    if let token = user["token"]?.bytes { addMain("token", token, .token) }
    guard let path = user["tokenFile"]?.text else { return }
    guard let content = neighbor(path) else { return refuse("tokenFile", path) }
    let isBlank = { (byte: UInt8) in [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    addMain("tokenFile", content.lastIndex { !isBlank($0) }.map { Array(content[...$0]) } ?? [], .token)
  }

  /// Adds the client's key and its certificate, in one value if both are here.
  private mutating func addKey() {
    let key = part("client-key-data", "client-key")
    let certificate = part("client-certificate-data", "client-certificate")
    switch (key, certificate) {
    case (let key?, let certificate?):
      let separator: [UInt8] = key.value.last == 0x0A ? [] : [0x0A]
      addMain("\(key.name), \(certificate.name)", key.value + separator + certificate.value, .key)
    case (let key?, nil): addMain(key.name, key.value, .key)
    case (nil, let certificate?): entry.put(certificate.name, .secret, certificate.value)
    case (nil, nil): break
    }
  }

  /// The content of a member in base64, or else of the file that another member names. kubectl prefers the former.
  private mutating func part(_ data: String, _ path: String) -> (name: String, value: [UInt8])? {
    var found: (String, [UInt8])?
    if let text = user[data]?.bytes, !text.isEmpty {
      found = KubernetesText.decoded(text).map { (data, $0) }
      if found == nil { entry.refuse(data, .secret, size: text.count, "it is not base64") }
    }
    guard let name = user[path]?.text, !name.isEmpty else { return found }
    if found != nil {
      entry.add(path, .setting, name)
    } else if let content = neighbor(name) {
      found = (path, content)
    } else {
      refuse(path, name)
    }
    return found
  }

  /// Adds the password of basic auth, which is one only with a user name.
  private mutating func addPassword(_ value: [UInt8]) {
    let hasName = user["username"].map { !$0.isNull && $0.bytes?.isEmpty == false } ?? false
    if hasName || value.isEmpty { addMain("password", value, .login) } else { entry.put("password", .secret, value) }
  }

  private mutating func neighbor(_ path: String) -> [UInt8]? {
    guard let found = file.neighbor(path, in: source) else { return nil }
    used.insert(found.path)
    return found.bytes
  }

  private mutating func refuse(_ name: String, _ path: String) {
    entry.refuse(
      name, .setting, size: path.utf8.count, "it names a file that is not in the source; import the file by itself")
  }

  private mutating func add(_ member: YAMLNode.Member) {
    let text = member.value.bytes ?? []
    switch member.name {
    case "token", "tokenFile", "client-key-data", "client-key", "client-certificate-data", "client-certificate":
      if member.value.isNull || text.isEmpty { entry.fields.append(Field(member.name, .setting, text)) }
    case "username": entry.put(member.name, .username, text)
    case "password": addPassword(text)
    case "exec": addLeaves(member, by: "kubectl gets these credentials from another program")
    case "auth-provider": addLeaves(member, by: nil)
    default: addLeaves(member, by: nil)
    }
  }

  /// Adds all values of a member. One whose name sounds like a secret is one.
  ///
  /// - Parameter reason: The reason why the others are refused; nil for settings.
  private mutating func addLeaves(_ member: YAMLNode.Member, by reason: String?) {
    for leaf in member.value.leaves {
      let text = leaf.node.bytes ?? []
      var words = [member.name] + leaf.path
      // An environment variable has its name beside its value.
      if words.starts(with: ["exec", "env"]), words.count == 4, words[3] == "value",
        let name = member.value["env"]?.element(at: words[2])?["name"]?.text
      {
        words = ["exec", "env", name]
      }
      let name = words.joined(separator: ".")
      let isSecret = FieldName.role(words.last ?? "") == .secret && !leaf.node.isNull && !text.isEmpty
      if isSecret {
        entry.put(name, .secret, text)
      } else if let reason {
        entry.refuse(name, .setting, size: text.count, reason)
      } else {
        entry.fields.append(Field(name, .setting, text))
      }
    }
  }
}

/// Texts in files of Kubernetes.
enum KubernetesText {
  /// The bytes of a text in base64, in which line breaks do not count; nil for any other text.
  static func decoded(_ text: [UInt8]) -> [UInt8]? {
    let symbols = text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    // Bytes have no padding.
    return [UInt8](base64: unsafe symbols.span.bytes)
  }
}
