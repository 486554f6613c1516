internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// The address of a daemon, and the users whom the client expects to listen there.
public struct SocketLocation: Hashable, Sendable {
  /// The users that the client accepts as the daemon, by the place of the socket.
  enum Trust: Hashable, Sendable {
    /// The user's own directory, closed to all others.
    case runtimeDirectory
    /// A path that somebody gave. In a directory of the user's or of root's, which must not be writable by everyone,
    /// the daemon must run as the user or root. In another user's directory, which nobody else may be able to write to
    /// or replace, it must run as that user or root.
    case explicit
    /// The machine's vault: the daemon must run as root or as the owner of the directory.
    case system
  }

  /// The socket's path.
  public let path: String
  let trust: Trust

  init(path: String, trust: Trust) {
    self.path = path
    self.trust = trust
  }

  /// The path of the socket of the machine's vault.
  public static let systemPath = "/run/vault/socket"

  /// The machine's vault. It is used only when asked for, never in place of the user's.
  public static let system = SocketLocation(path: systemPath, trust: .system)

  /// The user's vault: `explicit` (the value of `--socket`), or else `$VAULT_SOCKET`, or else
  /// `$XDG_RUNTIME_DIR/vault/socket`. Without that variable it is `/run/user/UID/vault/socket`, if that directory is
  /// the user's and closed to all others.
  ///
  /// An empty `$XDG_RUNTIME_DIR` counts as unset, and a relative one as invalid (XDG Base Directory Specification 0.8).
  /// An empty path of the socket, as from a script's variable that is not set, stands for no vault: the user's own must
  /// not answer in place of the intended one.
  ///
  /// - Throws: ``ClientError/emptySocketPath(variable:)`` for an empty `explicit` or `$VAULT_SOCKET`,
  ///   ``ClientError/noRuntimeDirectory`` when none of them gives a path,
  ///   ``ClientError/relativeRuntimeDirectory(_:)`` when nothing replaces a relative directory,
  ///   ``ClientError/foreignFolder(_:)`` when the directory belongs to another user, and
  ///   ``ClientError/notUTF8(variable:)`` for a variable that is needed and is not UTF-8.
  public static func user(explicit: String? = nil) throws(ClientError) -> SocketLocation {
    try user(explicit: explicit, environment: Variable.own, fallback: { RuntimeDirectory.found() })
  }

  static func user(
    explicit: String?, environment: (String) -> [UInt8]?, fallback: () -> String?
  ) throws(ClientError) -> SocketLocation {
    var named = explicit
    if named == nil { named = try Variable.text("VAULT_SOCKET", environment) }
    if let path = named {
      guard !path.isEmpty else { throw .emptySocketPath(variable: explicit == nil ? "VAULT_SOCKET" : nil) }
      return path == systemPath ? system : SocketLocation(path: path, trust: .explicit)
    }
    var runtime = try Variable.text("XDG_RUNTIME_DIR", environment)
    if let foreign = ForeignFolder.first(for: [.sockets], environment: { $0 == "XDG_RUNTIME_DIR" ? runtime : nil }) {
      throw .foreignFolder(foreign)
    }
    let relative = runtime.flatMap { $0.isEmpty || $0.hasPrefix("/") ? nil : $0 }
    if runtime?.hasPrefix("/") != true { runtime = fallback() }
    guard let directory = runtime else {
      throw relative.map { ClientError.relativeRuntimeDirectory($0) } ?? .noRuntimeDirectory
    }
    return SocketLocation(path: directory + "/vault/socket", trust: .runtimeDirectory)
  }

  /// The value of `$XDG_RUNTIME_DIR` if it is not an absolute path and therefore ignored.
  public static var passedOver: String? {
    guard let runtime = try? Variable.text("XDG_RUNTIME_DIR", Variable.own), !runtime.isEmpty, !runtime.hasPrefix("/")
    else { return nil }
    return runtime
  }

  /// The reason why no daemon can make its sockets there; nil when one can.
  public var problem: String? {
    guard trust != .system else { return nil }
    let tooLong = SocketPath.problem([path] + SocketPath.names.dropFirst().map { "\(parts.directory)/\($0)" })
    return tooLong ?? (trust == .runtimeDirectory ? folderProblem : nil)
  }

  /// The remedy for a place where no daemon can listen.
  public var remedy: String {
    trust == .explicit ? "give another socket, with a short path, with --socket or VAULT_SOCKET" : SocketPath.remedy
  }

  /// The reason why the runtime directory is none; nil if it is one. A daemon makes its own directory in it, but not
  /// the runtime directory itself.
  private var folderProblem: String? {
    let runtime = SocketLocation(path: parts.directory, trust: trust).parts.directory
    var status = stat()
    if unsafe stat(runtime, &status) == 0 {
      return status.st_mode & S_IFMT == S_IFDIR ? nil : "\(runtime), the runtime directory, is not a directory"
    }
    return errno == ENOENT || errno == ENOTDIR ? "\(runtime), the runtime directory, is not there" : nil
  }

  /// The path of the socket at which the same daemon hands credentials to the service manager.
  public var credentials: String { parts.directory + "/credentials" }

  /// The directory that holds the socket, and the socket's name in it.
  var parts: (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }
}
