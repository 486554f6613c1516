internal import CLinux
internal import Glibc
public import VaultProcess

/// Starts the user's daemon when nothing else does.
public enum Daemon {
  /// Makes sure that a vault answers at `location`: starts `vaultd` when nobody listens there.
  ///
  /// The machine's vault is never started. Another client may start a daemon at the same time without harm, because the
  /// later daemon finds the earlier one.
  ///
  /// - Parameter arguments: arguments for `vaultd`, after the `--socket` that `location` needs.
  /// - Throws: the errors of ``start(arguments:timeout:)`` and of the connection, as ``ClientError``;
  ///   ``ClientError/foreignFolder(_:)`` when the daemon would make files in another user's folder.
  public static func ensure(at location: SocketLocation, arguments: [String] = []) throws(ClientError) {
    do {
      _ = try Connection(to: location, patience: .zero)
      return
    } catch .noDaemon(let path) {
      guard location.trust != .system else { throw .noDaemon(path) }
    }
    if location.trust == .runtimeDirectory, let foreign { throw .foreignFolder(foreign) }
    let socket = location.trust == .explicit ? ["--socket", location.path] : []
    do {
      try start(arguments: socket + arguments)
    } catch .daemonFailed(let status, let message) where status == cannotCreate {
      // The exit code says that another daemon holds the store. That daemon may be about to listen.
      do { _ = try Connection(to: location) } catch {
        guard case .noDaemon = error else { throw error }
        throw .daemonFailed(status: status, message: message)
      }
    }
  }

  /// The folder of another user in which a daemon that this process starts would make files; nil if there is none.
  /// The folder for the sockets is not among them; ``SocketLocation/user(explicit:)`` looks at that one.
  public static var foreign: ForeignFolder? {
    ForeignFolder.first(for: [.store, .settings, .log]) { name in
      // A value that is not UTF-8 is reported by the daemon itself.
      (try? Variable.text(name, Variable.own)) ?? nil
    }
  }

  /// Runs `vaultd` in its own session, waits until it listens, and returns its process id.
  ///
  /// The program is the `vaultd` beside the running program, or else the one in `$PATH`. It gets `arguments` and no
  /// standard input. Its standard output and error are read only until it is ready, so its log goes elsewhere. It stays
  /// a child of this process: a program that outlives the daemon may want to `waitpid` it.
  ///
  /// - Throws: ``ClientError/daemonFailed(status:message:)`` when the daemon ends first, ``ClientError/timedOut``
  ///   (after ending it) when it is not ready within `timeout`, ``ClientError/system(_:errno:)`` with ENOENT when there
  ///   is no `vaultd`, and ``ClientError/notUTF8(variable:)`` when `$PATH` is needed and cannot be read.
  @discardableResult
  public static func start(
    arguments: [String] = [], timeout: Duration = .seconds(20)
  ) throws(ClientError) -> Int32 {
    try start(program: try find(), arguments: ["--log", "auto"] + arguments, timeout: timeout)
  }

  /// The exit code of `vaultd` when another daemon serves the store (EX_CANTCREAT, sysexits.h).
  private static let cannotCreate: Int32 = 73

  /// The exit code of `vaultd` when it rejects its settings (EX_CONFIG, sysexits.h).
  private static let misconfigured: Int32 = 78

  static func start(program: String, arguments: [String], timeout: Duration) throws(ClientError) -> Int32 {
    let deadline = Deadline(after: timeout)
    var child = try StartingChild(program, ["--ready-fd", "3"] + arguments)
    return try child.waitUntilReady(deadline)
  }

  /// Returns the reason why `vaultd` would reject its settings file, in its own words. Nil when it accepts the file,
  /// when there is no `vaultd`, or when the check fails in another way.
  ///
  /// For this check `vaultd` is run, reads the file and ends. `system` selects the settings of the machine's vault.
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

  /// The path of the `vaultd` that ``start(arguments:timeout:)`` runs; nil if there is none.
  public static var program: String? { try? find() }

  /// The path of a `vaultd` beside the running program or in `$PATH` that may not be executed; nil if there is none, or
  /// if ``program`` is not nil.
  public static var barredProgram: String? {
    guard program == nil, let path = try? Variable.text("PATH", Variable.own) ?? usualPath else { return nil }
    return barred(on: ([OwnProgram.directory].compactMap { $0 } + [path]).joined(separator: ":"))
  }

  /// The first file `vaultd` in the absolute folders of `path`.
  static func barred(on path: String) -> String? {
    folders(of: path).map { "\($0)/vaultd" }.first { unsafe access($0, F_OK) == 0 }
  }

  private static let usualPath = "/usr/local/bin:/usr/bin:/bin"

  private static func folders(of path: String) -> [Substring] {
    path.split(separator: ":").filter { $0.hasPrefix("/") }
  }

  /// The `vaultd` beside the running program, or else the first in `$PATH`.
  private static func find() throws(ClientError) -> String {
    if let own = OwnProgram.directory, isExecutable(own + "/vaultd") { return own + "/vaultd" }
    return try find(on: Variable.text("PATH", Variable.own))
  }

  /// The first `vaultd` in the absolute folders of `path`, a value of `$PATH`.
  static func find(on path: String?) throws(ClientError) -> String {
    for directory in folders(of: path ?? usualPath) where isExecutable(directory + "/vaultd") {
      return directory + "/vaultd"
    }
    throw .system("vaultd", errno: ENOENT)
  }

  private static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }
}
