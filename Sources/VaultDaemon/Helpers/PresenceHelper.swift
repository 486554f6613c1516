internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultProcess
internal import VaultService

/// The location of `vault-pam`, and the way to reach it on this machine.
///
/// If the socket of `vault-pam`'s unit is there, the daemon uses that socket: under `NoNewPrivileges`, as the installed
/// `vaultd` runs, a child could not check even its own user's password, and in system mode only root can check other
/// users. Without the socket the helper is a plain child.
struct PresenceHelper {
  let loop: any EventLoop
  let watcher: DescriptorWatcher
  let ends: HelperEnds
  /// The socket of the helper's unit.
  let socket: String
  /// The program to start as a child; nil when it is not installed.
  let program: String?
  /// The environment of a child, as lines `NAME=value`.
  let environment: [String]
  /// True under `NoNewPrivileges`, when a child could not check a password. A process cannot undo this state.
  let forbidsNewPrivileges: Bool

  init(
    loop: any EventLoop, watcher: DescriptorWatcher, ends: HelperEnds, socket: String, program: String?,
    environment: [String] = [], forbidsNewPrivileges: Bool = vault_no_new_privileges() == 1
  ) {
    self.loop = loop
    self.watcher = watcher
    self.ends = ends
    self.socket = socket
    self.program = program
    self.environment = environment
    self.forbidsNewPrivileges = forbidsNewPrivileges
  }

  /// Makes the helper of the daemon with these paths. `variable` reads the daemon's own environment; call this at
  /// start, before there is another thread.
  init(loop: any EventLoop, watcher: DescriptorWatcher, ends: HelperEnds, paths: Paths, variable: (String) -> String?) {
    let bus = variable("DBUS_SYSTEM_BUS_ADDRESS").map { ["DBUS_SYSTEM_BUS_ADDRESS=\($0)"] }
    self.init(
      loop: loop, watcher: watcher, ends: ends, socket: paths.presenceSocket,
      program: OwnProgram.helper("vault-pam"), environment: bus ?? [])
  }

  /// The way to reach the helper.
  enum Way: Equatable {
    /// The unit's socket.
    case socket
    case child(String)
    /// No way, because of this obstacle.
    case none(Obstacle)
  }

  /// Finds the way to check `uid`.
  func way(to uid: UInt32) -> Way {
    switch PresenceSocket.look(at: socket) {
    case .absent: wayOfOurOwn(to: uid)
    case .there: .socket
    case .untrusted(let reason): .none(Obstacle(reason))
    }
  }

  /// Finds the way when nobody listens on the socket.
  func wayOfOurOwn(to uid: UInt32) -> Way {
    if forbidsNewPrivileges {
      return .none(
        Obstacle("vaultd may gain no new privileges, and nothing listens on \(socket)", "start vault-pam.socket"))
    }
    if geteuid() != 0 && geteuid() != uid {
      return .none(
        Obstacle("only root can check uid \(uid), and nothing listens on \(socket)", "start vault-pam.socket"))
    }
    guard let program, unsafe access(program, X_OK) == 0 else {
      let barred = OwnProgram.barredHelper("vault-pam").map { "\($0) is not executable" }
      return .none(Obstacle(barred ?? "vault-pam is not installed"))
    }
    return .child(program)
  }
}
