internal import CLinux
internal import Glibc
internal import VaultModel

/// The files of a vault, which only `vaultd` writes. Another file in the place of the store or of the boot key would
/// destroy the vault.
enum VaultFiles {
  /// Throws if a file at `path` would be among the files of a vault.
  static func check(_ path: String) throws(Failure) {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard isStore(folder) || stores.contains(where: { isSame(path, $0.bootKey) }) else { return }
    throw Failure(
      .exists, "\(Printable.quoted(path)) is among the files of a vault, which only vaultd writes",
      "name a file elsewhere")
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
    var (mine, theirs) = (stat(), stat())
    guard let other, unsafe stat(path, &mine) == 0, unsafe stat(other, &theirs) == 0 else { return false }
    return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino
  }
}

extension FileState {
  fileprivate var isFile: Bool {
    if case .there(.file, _, _, _) = self { true } else { false }
  }
}
