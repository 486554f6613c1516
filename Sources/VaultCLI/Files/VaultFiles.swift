internal import VaultClient
internal import VaultModel
internal import VaultProcess

/// The files that vault's programs need, which no command writes. Another file in the place of the store or of the boot
/// key would destroy the vault, one in the place of the settings would keep the daemon from starting, and one in the
/// folder of the sockets is gone with the next logout.
enum VaultFiles {
  /// Throws if a file at `path` would be among these files.
  static func check(_ path: String) throws(Failure) {
    let (folder, name) = parts(path)
    let reason: String
    if isStore(folder) || stores.contains(where: { isSame(path, $0.bootKey) }) {
      reason = "is among the files of a vault, which only vaultd writes"
    } else if settings.contains(where: { isSame(path, $0) || isPlace(folder, name, $0) }) {
      reason = "is the settings file of a program of vault"
    } else if sockets.contains(where: { isSame(folder, $0) }) {
      reason = "is in the folder of the daemon's sockets"
    } else {
      return
    }
    throw Failure(.exists, "\(Printable.quoted(path)) \(reason)", "name a file elsewhere")
  }

  private static func parts(_ path: String) -> (folder: String, name: Substring) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path[...]) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), path[path.index(after: slash)...])
  }

  /// The settings files of the daemon and of the agent.
  private static var settings: [String] {
    stores.flatMap { [$0.configuration, parts($0.configuration).folder + "/agent.conf"] }
  }

  /// The folders of sockets. A socket that somebody named may stand in any folder.
  private static var sockets: [String] {
    let own = Environment.variable("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return [own ?? RuntimeDirectory.found()].compactMap { $0.map { $0 + "/vault" } }
      + [parts(SocketLocation.systemPath).folder]
  }

  /// Returns true if a file of that name in the folder would be the one at `other`, which need not exist.
  private static func isPlace(_ folder: String, _ name: Substring, _ other: String) -> Bool {
    let (otherFolder, otherName) = parts(other)
    return name.utf8.elementsEqual(otherName.utf8) && isSame(folder, otherFolder)
  }

  /// The stores that the environment names.
  private static var stores: [StorePaths] { [false, true].compactMap { StorePaths(system: $0) } }

  /// Returns true for the folder of a store: one that the environment names, or one that looks like a store, because a
  /// daemon may have been told another place.
  private static func isStore(_ folder: String) -> Bool {
    if stores.contains(where: { isSame(folder, $0.directory) }) { return true }
    return ["vault.db", "vault.lock"].allSatisfy { FileState("\(folder)/\($0)").isFile }
  }

  /// Returns true if both paths lead to the same file.
  private static func isSame(_ path: String, _ other: String?) -> Bool {
    guard let other, let place = FilePlace(path) else { return false }
    return place == FilePlace(other)
  }
}

extension FileState {
  fileprivate var isFile: Bool {
    if case .there(.file, _, _, _) = self { true } else { false }
  }
}
