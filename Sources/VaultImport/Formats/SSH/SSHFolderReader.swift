internal import VaultBytes
internal import VaultWire

/// The reader of the folder `~/.ssh` (ssh(1), "FILES"), or of private keys in it.
///
/// A private key is the item `ssh/id_ed25519` of kind `ssh-key`, with which the vault's ssh-agent signs. A key that a
/// passphrase protects, or that the ssh-agent has no use for, is a note. Either is stored as the file has it. All other
/// files are listed.
enum SSHFolderReader: CredentialFile {
  static let format = FileFormat.ssh
  static let detail = "keys of ssh"

  static func isNamed(_ file: Source.File) -> Bool { file.folders.contains(".ssh") }
  static func isAlike(_ file: Source.File) -> Bool { hasMark(file, "OPENSSH PRIVATE KEY-----") }

  /// True for one private key of OpenSSH, or for a folder that is one of ssh: files that are certainly ssh's lie in it,
  /// or nothing else does in the folders within. A folder with other known files of credentials is none, however many
  /// keys it has.
  static func areAlike(_ source: Source) -> Bool {
    if source.files.allSatisfy(isNamed) { return !source.files.isEmpty }
    guard source.files.count > 1 else { return source.files.contains(where: isAlike) }
    guard !DotfilesReader.knows(source) else { return false }
    return source.files.contains { $0.folders.isEmpty && isCertain($0) } || source.files.allSatisfy(isCertain)
  }

  private static func isCertain(_ file: Source.File) -> Bool {
    isAlike(file) || file.isNamed("known_hosts", "authorized_keys")
      || file.name.hasSuffix(".pub") && SSHPublicLine(Array(file.bytes.prefix(16 << 10))) != nil
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    var lines: [String: Source.File] = [:]
    var used: Set<String> = []
    for file in files where file.name.hasSuffix(".pub") { lines[file.path] = file }
    var count = 0
    for file in files {
      if file.bytes.count <= ImportedField.longestValue, let key = SSHPrivateFile(file.bytes) {
        let line = lines["\(file.path).pub"]
        if let line { used.insert(line.path) }
        try found.add(entry(file, key, line))
        used.insert(file.path)
        count += 1
      } else if hasMark(file, "PuTTY-User-Key-File-") || hasMark(file, "PRIVATE KEY-----") {
        try found.add(whole(file))
        used.insert(file.path)
        count += 1
      }
    }
    guard count > 0 || files.count > 1 || files.allSatisfy(isNamed) else {
      throw ImportFailure(.damaged, "the file has no private key")
    }
    for file in files where !used.contains(file.path) { try list(file, in: &found) }
  }

  /// True if the beginning of a file has the text.
  private static func hasMark(_ file: Source.File, _ text: String) -> Bool {
    let start = String(decoding: file.bytes.prefix(1024), as: UTF8.self)
    return start.contains(text) && (start.contains("-----BEGIN ") || text.hasPrefix("PuTTY"))
  }

  private static func path(_ file: Source.File) -> [String] {
    let folders = file.folders
    let inner = folders.lastIndex(of: ".ssh").map { Array(folders[($0 + 1)...]) } ?? folders
    return ["ssh"] + inner + [file.name]
  }

  // MARK: Keys

  /// The types of keys with which the vault's ssh-agent signs.
  private static let types: Set = [
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
  ]

  private static func entry(_ file: Source.File, _ key: SSHPrivateFile, _ line: Source.File?) -> Entry {
    let otherType = key.blob?.type.flatMap { types.contains($0) ? nil : $0 }
    let isForAgent = !key.isProtected && otherType == nil
    var entry = Entry(isForAgent ? .sshKey : .note, at: path(file))
    entry.put(file.name, isForAgent ? .password : .note, file.bytes)
    if key.isProtected {
      entry.addSetting(
        "passphrase", size: 0,
        "the key is kept as a text, protected by its passphrase, so that the vault's ssh-agent cannot use it; "
          + "`ssh-keygen -p -N '' -f COPY` removes the passphrase from a copy")
    } else if let otherType {
      entry.addSetting(
        "type", size: otherType.utf8.count,
        "the key is kept as a text, because the vault's ssh-agent has no use for keys of this type")
    }
    if let line { put(line, of: key, &entry) }
    if let modified = file.modified, modified > 0 { entry.put("modified", .modified, String(modified)) }
    return entry
  }

  /// Puts the comment of the public half, and the half itself if it cannot be made of the private key.
  private static func put(_ file: Source.File, of key: SSHPrivateFile, _ entry: inout Entry) {
    guard let line = SSHPublicLine(file.bytes) else {
      return entry.addSetting(file.name, size: file.bytes.count, "it is no line of a public key")
    }
    guard key.blob == nil || key.blob == line.blob else {
      return entry.addSetting(
        file.name, size: file.bytes.count, "it is the public half of another key than the private key beside it")
    }
    entry.put("comment", .text, line.comment)
    if key.isProtected || key.blob == nil {
      // The comment has a field of its own.
      entry.put("public-key", .text, Array("\(line.type) \(line.blob.bytes.base64)".utf8))
    } else {
      entry.addSetting(
        file.name, size: file.bytes.count,
        "it agrees with the private key, from which `vault pubkey` makes it again")
    }
  }

  /// Keeps a key that is of no form that ssh-agents use, as PuTTY's, or that is damaged.
  private static func whole(_ file: Source.File) -> Entry {
    var entry = Entry(.note, at: path(file))
    entry.put(file.name, .note, file.bytes)
    entry.addSetting("form", size: 0, "it is kept as a text: it is no private key in OpenSSH's form or in PEM")
    return entry
  }

  // MARK: Other files

  private static func list(_ file: Source.File, in found: inout FoundEntries) throws(ImportFailure) {
    var entry = Entry(settingsOf: file)
    entry.addSetting(file.name, size: file.bytes.count, reason(file))
    try found.add(entry)
  }

  private static func reason(_ file: Source.File) -> String {
    if let line = SSHPublicLine(file.bytes), file.name.hasSuffix(".pub") {
      return line.isCertificate
        ? "it is a certificate of a public key, which is no secret; ssh finds it beside IdentityFile"
        : "it is a public key, and its private half is not in the folder"
    }
    switch file.name {
    case "known_hosts", "known_hosts.old", "known_hosts2": return "it has the keys of servers, which are no secrets"
    case "authorized_keys", "authorized_keys2": return "it has the public keys that may log in here, and no secret"
    case "config": return "it has the settings of ssh, which stay where they are"
    case "environment", "rc": return "sshd(8) reads it at a login; it stays where it is"
    default: return "it is no private key"
    }
  }
}
