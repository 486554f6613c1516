internal import VaultProcess

/// The environment of a daemon that a client starts.
enum DaemonEnvironment {
  /// The folders in which programs are looked for, whatever the client's `PATH` is.
  static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

  private static let runtime = "XDG_RUNTIME_DIR="

  /// The lines `NAME=value` of `all` that ``DaemonVariables`` passes on, and ``path``.
  ///
  /// - Parameter fallback: the `XDG_RUNTIME_DIR` of a daemon that would get none, or a relative one, from `all`: the
  ///   client looks for its socket there.
  static func lines(from all: [String], fallback: String? = RuntimeDirectory.found()) -> [String] {
    // The string is lent for the call.
    var lines = [path] + all.filter { line in unsafe line.withCString { unsafe DaemonVariables.pass($0) } }
    if let fallback, !lines.contains(where: { $0.hasPrefix(runtime + "/") }) {
      lines.removeAll { $0.hasPrefix(runtime) }
      lines.append(runtime + fallback)
    }
    return lines
  }
}
