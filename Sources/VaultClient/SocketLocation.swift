internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// The address of a daemon, and whom the client expects there.
public struct SocketLocation: Hashable, Sendable {
  /// The users that the client takes for the daemon, by the place of the socket.
  enum Trust: Hashable, Sendable {
    /// The user's own directory, closed to all others.
    case runtimeDirectory
    /// A path someone gave. In the user's own directory or one of root's, which not everyone may write to, the daemon is
    /// the user's or root's; in another user's, which nobody else may write to or put another one in the place of, it is
    /// that user's or root's.
    case explicit
    /// The system's vault: root, or the owner of the directory.
    case system
  }

  /// The socket's path.
  public let path: String
  let trust: Trust

  init(path: String, trust: Trust) {
    self.path = path
    self.trust = trust
  }

  /// The path of the system's vault.
  public static let systemPath = "/run/vault/socket"

  /// The system's vault. It is used only when asked for, never in place of the user's.
  public static let system = SocketLocation(path: systemPath, trust: .system)

  /// The user's vault: `explicit` (the value of `--socket`), else `$VAULT_SOCKET`, else
  /// `$XDG_RUNTIME_DIR/vault/socket`. Without that variable it is `/run/user/UID/vault/socket`, where that directory is
  /// the user's and closed to all others.
  ///
  /// Throws ``ClientError/noRuntimeDirectory`` when none of them says where. An empty variable counts as unset, and a
  /// relative `$XDG_RUNTIME_DIR` as invalid (XDG Base Directory Specification 0.8):
  /// ``ClientError/relativeRuntimeDirectory(_:)`` where nothing takes its place. Throws
  /// ``ClientError/notUTF8(variable:)`` for one that would be needed and is not UTF-8.
  public static func user(explicit: String? = nil) throws(ClientError) -> SocketLocation {
    try user(explicit: explicit, environment: Variable.own, fallback: { RuntimeDirectory.found() })
  }

  static func user(
    explicit: String?, environment: (String) -> [UInt8]?, fallback: () -> String?
  ) throws(ClientError) -> SocketLocation {
    var named = explicit
    if named == nil { named = try Variable.text("VAULT_SOCKET", environment) }
    if let path = named, !path.isEmpty {
      return path == systemPath ? system : SocketLocation(path: path, trust: .explicit)
    }
    var runtime = try Variable.text("XDG_RUNTIME_DIR", environment)
    let relative = runtime.flatMap { $0.isEmpty || $0.hasPrefix("/") ? nil : $0 }
    if runtime?.hasPrefix("/") != true { runtime = fallback() }
    guard let directory = runtime else {
      throw relative.map { ClientError.relativeRuntimeDirectory($0) } ?? .noRuntimeDirectory
    }
    return SocketLocation(path: directory + "/vault/socket", trust: .runtimeDirectory)
  }

  /// The value of `$XDG_RUNTIME_DIR` where it is no absolute path, so that it is passed over.
  public static var passedOver: String? {
    guard let runtime = try? Variable.text("XDG_RUNTIME_DIR", Variable.own), !runtime.isEmpty, !runtime.hasPrefix("/")
    else { return nil }
    return runtime
  }

  /// The reason why no daemon can make its sockets there; nil where one can.
  public var problem: String? {
    guard trust != .system else { return nil }
    let tooLong = SocketPath.problem([path] + SocketPath.names.dropFirst().map { "\(parts.directory)/\($0)" })
    guard tooLong == nil, trust == .runtimeDirectory, let folder = missingFolder else { return tooLong }
    return "\(folder), the runtime directory, is not there"
  }

  /// The change that makes a place where a daemon can listen of one where none can.
  public var remedy: String {
    trust == .explicit ? "give another one, with a short path, by --socket or VAULT_SOCKET" : SocketPath.remedy
  }

  /// The runtime directory, where it is not there: a daemon makes its own directory in it, and no more.
  private var missingFolder: String? {
    let runtime = SocketLocation(path: parts.directory, trust: trust).parts.directory
    return unsafe access(runtime, F_OK) != 0 && errno == ENOENT ? runtime : nil
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
