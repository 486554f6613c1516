internal import Glibc
internal import VaultWire

/// The paths of a vault's files.
struct Paths: Equatable {
  /// The directory of the store, mode 0700.
  var store: String
  /// The directory of the socket.
  var runtime: String
  var socket: String
  /// The socket for service managers, beside the clients' socket.
  var credentialSocket: String
  /// The socket of the ssh-agent, beside the clients' socket; nil for the machine's vault, which has none.
  var sshSocket: String?
  /// The socket of vault-pam's unit. For the machine's vault, the system's service manager gives the socket to the
  /// daemon's user, and would follow a link in the socket's place. So the usual directory of the socket is one that the
  /// daemon cannot write to.
  var presenceSocket: String
  var config: String
  /// True when `config` was named on the command line and therefore must exist.
  var configIsExplicit: Bool
  /// The log file. Nil for the machine's vault, whose log goes to the service manager, and when nothing tells its
  /// place.
  var log: String?
  /// The directory where the service manager put the service's credentials, if it did.
  var credentials: String?

  /// The error for a path that cannot be used, or that depends on a variable which is not set.
  struct Missing: Error, Equatable {
    var reason: String
  }

  init(options: Options, environment: (String) -> String?) throws(Missing) {
    func folder(_ variable: String, _ fallback: String) throws(Missing) -> String {
      // The XDG specification says to ignore a relative path.
      if let path = environment(variable), path.hasPrefix("/") { return path }
      guard let home = environment("HOME"), home.hasPrefix("/") else {
        throw Missing(reason: "neither \(variable) nor HOME is set; set one of them to an absolute path")
      }
      return home + fallback
    }
    if options.system {
      store = options.store ?? "/var/lib/vault"
      socket = options.socket ?? "/run/vault/socket"
      config = options.config ?? "/etc/vault/vaultd.conf"
    } else {
      if let named = options.store {
        store = named
      } else {
        store = try folder("XDG_DATA_HOME", "/.local/share") + "/vault"
      }
      if let named = options.socket {
        socket = named
      } else if let run = environment("XDG_RUNTIME_DIR"), run.hasPrefix("/") {
        socket = run + "/vault/socket"
      } else if options.checksSettings {
        // The check makes no socket, so the settings are checked outside of a session as well.
        socket = "/run/user/vault/socket"
      } else {
        let named = environment("XDG_RUNTIME_DIR").flatMap { $0.isEmpty ? nil : $0 }
        let problem = named.map { "XDG_RUNTIME_DIR is `\($0)`, which is not an absolute path" }
        throw Missing(
          reason: (problem ?? "XDG_RUNTIME_DIR is not set")
            + "; log in through a session, or name a socket with --socket")
      }
      if let named = options.config {
        config = named
      } else {
        config = try folder("XDG_CONFIG_HOME", "/.config") + "/vault/vaultd.conf"
      }
    }
    for path in [store, socket, config] where !path.hasPrefix("/") {
      throw Missing(reason: "`\(path)` is not an absolute path")
    }
    while store.count > 1, store.hasSuffix("/") { store.removeLast() }
    guard let slash = socket.lastIndex(of: "/"), slash > socket.startIndex, socket.last != "/" else {
      throw Missing(reason: "`\(socket)` does not name a socket in a directory")
    }
    runtime = String(socket[..<slash])
    credentialSocket = runtime + "/credentials"
    sshSocket = options.system ? nil : runtime + "/ssh.socket"
    presenceSocket = options.system && options.socket == nil ? "/run/vault-pam/socket" : runtime + "/pam.socket"
    configIsExplicit = options.config != nil
    log = options.system ? nil : (try? folder("XDG_STATE_HOME", "/.local/state")).map { $0 + "/vault/log" }
    credentials = environment("CREDENTIALS_DIRECTORY").flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// All sockets that the daemon binds: for clients, for credentials, and for SSH.
  var sockets: [String] { [socket, credentialSocket] + (sshSocket.map { [$0] } ?? []) }

  /// The reason why one of the sockets cannot be bound, whatever state its directory is in.
  var socketProblem: String? { SocketPath.problem(sockets).map { "\($0); \(SocketPath.remedy)" } }

  static func environment(_ name: String) -> String? {
    // The environment is read at start, before there is another thread.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
