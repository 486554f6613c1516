internal import CLinux
internal import Glibc

/// Starts the user's daemon where nothing else does.
public enum Daemon {
  /// A vault at `location` that answers: when nobody listens there, `vaultd` is started first.
  ///
  /// The system's vault is never started. Another client that starts a daemon at the same time does no harm: the one
  /// that comes second finds the other's. Throws ``ClientError`` as ``start(arguments:timeout:)`` and the connection
  /// do. `arguments` go to `vaultd`, behind the `--socket` that `location` needs.
  public static func ensure(at location: SocketLocation, arguments: [String] = []) throws(ClientError) {
    do {
      _ = try Connection(to: location, patience: .zero)
      return
    } catch .noDaemon(let path) {
      guard location.trust != .system else { throw .noDaemon(path) }
    }
    let socket = location.trust == .explicit ? ["--socket", location.path] : []
    do {
      try start(arguments: socket + arguments)
    } catch .daemonFailed(let status, let message) where status == cannotCreate {
      // It says that another one has the store. That one may be about to listen.
      do { _ = try Connection(to: location) } catch {
        guard case .noDaemon = error else { throw error }
        throw .daemonFailed(status: status, message: message)
      }
    }
  }

  /// Runs `vaultd` in a session of its own and waits until it listens. Gives its process id.
  ///
  /// It is the `vaultd` beside the running program, else the one in `$PATH`. It gets `arguments`, no standard input,
  /// and its standard output and error are read only until it is ready, so its log goes elsewhere. It stays a child of this process: a program
  /// that outlives it may want to `waitpid` it.
  ///
  /// Throws ``ClientError/daemonFailed(status:message:)`` when it ends first, ``ClientError/timedOut`` (and ends it)
  /// when it is not ready within `timeout`, ``ClientError/system(_:errno:)`` with ENOENT when there is none, and
  /// ``ClientError/notUTF8(variable:)`` when `$PATH` is needed and cannot be read.
  @discardableResult
  public static func start(
    arguments: [String] = [], timeout: Duration = .seconds(20)
  ) throws(ClientError) -> Int32 {
    try start(program: try find(), arguments: ["--log", "auto"] + arguments, timeout: timeout)
  }

  /// The exit code of `vaultd` when another one serves the store (EX_CANTCREAT, sysexits.h).
  private static let cannotCreate: Int32 = 73

  /// The exit code of `vaultd` when it does not take its settings (EX_CONFIG, sysexits.h).
  private static let misconfigured: Int32 = 78

  static func start(program: String, arguments: [String], timeout: Duration) throws(ClientError) -> Int32 {
    let deadline = Deadline(after: timeout)
    var child = try StartingChild(program, ["--ready-fd", "3"] + arguments)
    return try child.waitUntilReady(deadline)
  }

  /// The reason why `vaultd` would not take its settings file, in its own words; nil when it would, and also when there is
  /// no `vaultd` to ask or its answer is another one.
  ///
  /// It is run for that, reads the file and ends. `system` says whose settings are meant.
  public static func settingsProblem(system: Bool = false) -> String? {
    do throws(ClientError) {
      _ = try start(
        program: try find(), arguments: (system ? ["--system"] : []) + ["--check-settings"], timeout: .seconds(5))
      return nil
    } catch .daemonFailed(misconfigured, let message) {
      return message
    } catch {
      return nil
    }
  }

  /// The `vaultd` beside the running program, else the first in `$PATH`.
  private static func find() throws(ClientError) -> String {
    if let own = ownDirectory(), isExecutable(own + "/vaultd") { return own + "/vaultd" }
    return try find(on: Variable.text("PATH", Variable.own))
  }

  /// The first `vaultd` in the absolute folders of `path`, a value of `$PATH`.
  static func find(on path: String?) throws(ClientError) -> String {
    let path = path ?? "/usr/local/bin:/usr/bin:/bin"
    for directory in path.split(separator: ":") where directory.hasPrefix("/") && isExecutable(directory + "/vaultd") {
      return directory + "/vaultd"
    }
    throw .system("vaultd", errno: ENOENT)
  }

  private static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

  /// The directory of the running program; nil where its name is not UTF-8, which would be read as that of another.
  private static func ownDirectory() -> String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    // At most the buffer's count is written.
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    guard count > 0, let slash = path[..<count].lastIndex(of: CChar(UInt8(ascii: "/"))) else { return nil }
    return String(validating: path[..<slash].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
