internal import Glibc

/// The files of systemd's services.
enum UnitFiles {
  private static let ending = ".service"
  /// The most files that are looked at.
  private static let most = 4096

  /// Returns the names of the services of the machine or, for a user's vault, of a user's manager.
  static func services(ofSystem isSystem: Bool) -> [String] {
    var names: Set<String> = []
    for folder in SystemdUnits.folders(ofSystem: isSystem) { names.formUnion(files(in: folder).filter(isService)) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  private static func isService(_ name: String) -> Bool {
    name.utf8.count > ending.utf8.count && name.hasSuffix(ending)
  }

  private static func files(in path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var found: [String] = []
    while found.count < most, let entry = unsafe readdir(folder) {
      // The entry is valid until the next call, and may be shorter than its type: the whole field must not be copied.
      guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = unsafe UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
      if let text = unsafe String(validatingCString: name) { found.append(text) }
    }
    return found
  }
}
