internal import CLinux
internal import Glibc
internal import VaultProcess

/// The folders that decide where a path leads.
struct PathFolders: Equatable {
  /// The folders that hold a name that could be removed or given to another file: the path's last name, or the name of
  /// a symbolic link on the path.
  private(set) var holders: Set<String> = []
  /// The folders on the path. Each of them could be moved, but it cannot be removed while there is something in it.
  private(set) var all: Set<String> = []

  /// The most symbolic links on a path that the kernel follows (path_resolution(7)).
  private static let mostLinks = 40

  /// Follows an absolute path as the kernel does. A folder that is missing is taken for an ordinary folder.
  init(of path: String) {
    var names = Self.names(path)
    var links = 0
    // The path of the folder without links, and without a slash at the end.
    var folder = ""
    while let name = names.popLast() {
      guard !names.isEmpty else {
        holders.insert(folder.isEmpty ? "/" : folder)
        return
      }
      if name == "." { continue }
      if name == ".." {
        folder = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        continue
      }
      if links < Self.mostLinks, let target = SymbolicLink.target(of: folder + "/" + name) {
        links += 1
        holders.insert(folder.isEmpty ? "/" : folder)
        if target.hasPrefix("/") { folder = "" }
        names += Self.names(target)
      } else {
        folder += "/" + name
        all.insert(folder)
      }
    }
  }

  /// The names in a path, the first one last.
  private static func names(_ path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }
}
