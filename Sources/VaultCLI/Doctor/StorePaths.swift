/// The paths of the daemon's files, as far as a client can tell: a `--store` option of the daemon is not known here.
struct StorePaths {
  let directory: String
  let configuration: String
  /// The file with the boot key, sealed or not; nil if the key is a credential, which only the service sees.
  let bootKey: String?

  /// Nil if the environment does not tell the paths.
  init?(system: Bool) {
    if system {
      (directory, configuration) = ("/var/lib/vault", "/etc/vault/vaultd.conf")
    } else {
      guard let data = StorePaths.folder("XDG_DATA_HOME", "/.local/share"),
        let config = StorePaths.folder("XDG_CONFIG_HOME", "/.config")
      else { return nil }
      (directory, configuration) = (data + "/vault", config + "/vault/vaultd.conf")
    }
    let bootKey = StorePaths.setting("boot-key", in: configuration) ?? directory + "/boot.key"
    if bootKey.hasPrefix("credential:") {
      self.bootKey = nil
    } else {
      self.bootKey = bootKey.hasPrefix("tpm2:") ? String(bootKey.dropFirst(5)) : bootKey
    }
  }

  /// The same paths for a store in another directory, which the daemon has named.
  init(_ other: StorePaths, at directory: String) {
    let isInside = other.bootKey == other.directory + "/boot.key"
    (self.directory, configuration) = (directory, other.configuration)
    bootKey = isInside ? directory + "/boot.key" : other.bootKey
  }

  /// The files of a store that lie in the directory without a `vault.db`; empty if that is there.
  var leftovers: [String] {
    guard FileState(directory + "/vault.db") == .missing else { return [] }
    return ["vault.db-wal", "vault.room", "boot.key"].filter { FileState(directory + "/" + $0).exists }
  }

  /// Says that parts of a store lie in the directory without a `vault.db`; nil if none do.
  var remnant: String? {
    let names = leftovers
    guard !names.isEmpty else { return nil }
    return "parts of a store lie in \(directory), but no vault.db: \(names.joined(separator: ", "))"
  }

  /// The advice on such parts.
  static var remnantAdvice: String {
    "put vault.db back if it was moved, or have \(Hint.vault("restore")) make a vault from a backup"
  }

  /// The remnant at the usual place of the vault that this run works on; nil if there is none, or if the run names
  /// a socket, whose daemon may have its store anywhere.
  static var usualRemnant: String? {
    if !Hint.isSystem, Hint.namesSocket { return nil }
    return StorePaths(system: Hint.isSystem)?.remnant
  }

  private static func folder(_ variable: String, _ fallback: String) -> String? {
    if let path = Environment.variable(variable), path.hasPrefix("/") { return path }
    guard let home = Environment.variable("HOME"), home.hasPrefix("/") else { return nil }
    return home + fallback
  }

  /// Returns the value of one `key = value` line. Only the daemon checks the file.
  private static func setting(_ key: String, in path: String) -> String? {
    guard FileState(path).exists, let text = FileInput.text(of: path) else { return nil }
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1).map { String($0.drop { $0 == " " }) }
      guard parts.count == 2, parts[0].split(separator: " ") == [Substring(key)] else { continue }
      return String(parts[1].reversed().drop { $0 == " " || $0 == "\r" }.reversed())
    }
    return nil
  }
}
