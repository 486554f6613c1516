/// The environment of a daemon that a client starts.
///
/// It outlives the script that happened to need it and holds the keys, so it gets what says where the user's files and buses
/// are, and nothing else: no `LD_PRELOAD`, which would load into it, and no `NOTIFY_SOCKET`, over which it would tell
/// somebody else's service manager that it is ready.
enum DaemonEnvironment {
  private static let names: Set<Substring> = [
    "HOME", "USER", "LOGNAME", "LANG", "TZ", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
    "SECRET_SERVICE_BUS_NAME",
  ]
  private static let prefixes = ["XDG_", "LC_"]

  /// Where programs are looked for, whatever the client's `PATH` is.
  static let path = "PATH=/usr/local/bin:/usr/bin:/bin"

  /// The lines `NAME=value` of `all` that are passed on, and ``path``.
  static func lines(from all: [String]) -> [String] {
    [path]
      + all.filter { line in
        let name = line.prefix { $0 != "=" }
        return names.contains(name) || prefixes.contains { name.hasPrefix($0) }
      }
  }
}
