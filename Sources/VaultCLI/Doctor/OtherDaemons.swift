internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess

/// Daemons of this user that cannot be asked from here.
///
/// A daemon that was started with `--store` has the lock of a store that this program does not know, and nothing that a
/// program without privileges may read tells which vault it serves.
enum OtherDaemons {
  /// The advice for a person who wants all vaults locked, whoever serves them.
  static let remedy = "`pkill -USR1 -x vaultd` locks every vault that a vaultd of yours serves"

  /// The most processes that a message names.
  private static let most = 4

  /// The failure of a lock that has reached none of this user's daemons, because none serves the vault in `directory`;
  /// nil if there are none, or if they cannot be seen.
  static func unlocked(beside directory: String) -> Failure? {
    let found = Processes.ids { FileInput.text(of: "/proc/\($0)/comm") == "vaultd\n" && isOwn($0) }
    guard let found, !found.isEmpty else { return nil }
    let named = found.sorted().prefix(most).map { "\($0)" }.joined(separator: ", ")
    let rest = found.count > most ? " and \(found.count - most) more" : ""
    let subject = found.count == 1 ? "process \(named) is a vaultd" : "processes \(named)\(rest) are vaultds"
    return Failure(
      .unavailable,
      "no daemon serves the vault in \(Printable.text(directory)), so nothing was locked; \(subject) of yours, and "
        + "what \(found.count == 1 ? "it serves" : "they serve") is unknown here", remedy)
  }

  /// True for a process of this user that has not ended yet.
  private static func isOwn(_ pid: pid_t) -> Bool {
    guard let status = FileInput.text(of: "/proc/\(pid)/status") else { return false }
    var (isAlive, isOwn) = (true, false)
    for line in status.split(separator: "\n") {
      let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      if words.first == "State:" { isAlive = words.count > 1 && words[1] != "Z" && words[1] != "X" }
      if words.first == "Uid:" { isOwn = words.count > 1 && words[1] == "\(getuid())" }
    }
    return isAlive && isOwn
  }
}

/// The processes of this machine, as /proc shows them.
enum Processes {
  /// True if /proc shows the PID namespace of this process. The numbers of another namespace stand for other processes
  /// here (pid_namespaces(7)).
  static var areShown: Bool { SymbolicLink.target(of: "/proc/self") == "\(getpid())" }

  /// Returns the processes for which `isWanted` is true; nil if /proc does not show them.
  static func ids(_ isWanted: (pid_t) -> Bool) -> [pid_t]? {
    guard areShown, let folder = unsafe opendir("/proc") else { return nil }
    defer { unsafe closedir(folder) }
    var found: [pid_t] = []
    while let entry = unsafe readdir(folder) {
      // The entry is valid until the next call, and may be shorter than its type: the whole field must not be copied.
      guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
      let name = unsafe UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
      if let pid = pid_t(unsafe String(cString: name)), isWanted(pid) { found.append(pid) }
    }
    return found
  }
}
