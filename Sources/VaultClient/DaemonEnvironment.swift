/// The environment of a daemon that a client starts.
enum DaemonEnvironment {
  /// The folders in which programs are looked for, whatever the client's `PATH` is.
  static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

  /// The lines `NAME=value` of `all` that ``DaemonVariables`` passes on, and ``path``.
  static func lines(from all: [String]) -> [String] {
    // The string is lent for the call.
    [path] + all.filter { line in unsafe line.withCString { unsafe DaemonVariables.pass($0) } }
  }
}
