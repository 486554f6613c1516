internal import VaultProcess

/// The environment of a daemon that a client starts.
enum DaemonEnvironment {
  /// The folders that are searched for programs, whatever the client's `PATH` is.
  static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

  private static let runtime = "XDG_RUNTIME_DIR="

  /// Returns the lines `NAME=value` of `all` that ``DaemonVariables`` passes on, and ``path``.
  ///
  /// - Parameter fallback: the `XDG_RUNTIME_DIR` for a daemon that would otherwise get none, or a relative one, from
  ///   `all`. The client looks for the daemon's socket there.
  static func lines(from all: [String], fallback: String? = RuntimeDirectory.found()) -> [String] {
    // The string is valid for the call.
    var lines = [path] + all.filter { line in unsafe line.withCString { unsafe DaemonVariables.pass($0) } }
    if let fallback, !lines.contains(where: { $0.hasPrefix(runtime + "/") }) {
      lines.removeAll { $0.hasPrefix(runtime) }
      lines.append(runtime + fallback)
    }
    return lines
  }
}
