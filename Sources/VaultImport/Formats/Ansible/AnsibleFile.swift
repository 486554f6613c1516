internal import VaultBytes
internal import VaultWire

/// The entry of a file of Ansible. What was encrypted becomes secrets, and the rest is settings of the playbook.
struct AnsibleFile {
  private(set) var entry: Entry
  private let file: Source.File

  init(_ file: Source.File) {
    self.file = file
    entry = Entry(.login, id: file.path, folder: ["ansible"] + file.folders, title: Self.title(file.name))
  }

  /// Makes the entry of a file that was encrypted as a whole. If it consists of names with values, as a file of
  /// variables does, each value is a secret; any other file stays whole.
  init(_ file: Source.File, decrypted content: [UInt8]) {
    self.init(file)
    if let root = try? YAMLDocuments.only(content), root.isMapping, !root.members.isEmpty {
      for leaf in root.leaves {
        let text = leaf.node.bytes ?? []
        let name = leaf.path.joined(separator: ".")
        if leaf.node.isNull || text.isEmpty {
          entry.fields.append(Field(name, .setting, text))
        } else {
          entry.put(name, .secret, text)
        }
      }
    } else if content.withSpan({ $0.isText }) {
      entry.put("content", .secret, content)
    } else {
      entry.put(file.name, .attachment, content, mediaType: "application/octet-stream")
    }
  }

  /// Adds the values of a document of YAML.
  mutating func add(_ document: YAMLNode, _ passwords: inout AnsiblePasswords) throws(ImportFailure) {
    for leaf in document.leaves {
      let name = leaf.path.joined(separator: ".")
      let text = leaf.node.bytes ?? []
      let isSealed = ["!vault", "!vault-encrypted"].contains(leaf.node.tag ?? "") || AnsibleEnvelope.isOne(text)
      guard isSealed else {
        entry.fields.append(Field(name, .setting, text))
        continue
      }
      let content = try passwords.open(AnsibleEnvelope(text), in: file)
      if content.isEmpty { entry.add(name, .secret, "") } else { entry.put(name, .secret, content) }
    }
  }

  /// The name of a file without the ending of YAML.
  private static func title(_ name: String) -> String {
    for ending in [".yaml", ".yml"] where name.hasSuffix(ending) && name.utf8.count > ending.utf8.count {
      return String(name.dropLast(ending.count))
    }
    return name
  }
}
