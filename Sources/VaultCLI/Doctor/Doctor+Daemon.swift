internal import Glibc
internal import VaultClient

/// The reports on a daemon that cannot be asked, and on the socket that everyone uses.
extension Doctor {
  /// Reports that no daemon listens at the socket, or that one serves the vault elsewhere.
  func absent(_ location: SocketLocation) -> Diagnosis {
    let absence = Failure(.noDaemon(location.path))
    guard isOwn || globals.system else {
      return .warn("daemon", absence.event, fix: "start it, or name another socket")
    }
    switch StoreHolder.find(system: globals.system) {
    case .held(let holder):
      return .fail("daemon", holder.elsewhere(than: .socket(location.path)), fix: holder.remedy)
    case .none where globals.system, .noStore where globals.system, .hidden where globals.system:
      return .fail("daemon", absence.event, fix: fix(absence))
    case .hidden(let reason):
      return .warn(
        "daemon", "none listens at \(location.path), and the store's lock does not show another one: \(reason)",
        fix: "correct that")
    case .none where Daemon.program == nil, .noStore where Daemon.program == nil:
      return .fail("daemon", Failure.notInstalled.event, fix: fix(Failure.notInstalled))
    case .none, .noStore:
      let starts = Daemon.settingsProblem() == nil
      return .warn(
        "daemon", "none is running",
        fix: starts ? "the next command starts one" : "none starts until the settings are correct")
    }
  }

  /// Returns the remedy of a failure; it never names this command.
  func fix(_ failure: Failure) -> String {
    if let advice = failure.advice, advice != Failure.seeDoctor { return advice }
    guard failure.exit == .denied else { return "see its log" }
    let (page, user) = ("see `The system vault` in vaultd(8)", "run this as the user whose vault it is")
    if Hint.isSystem { return page }
    // A socket that somebody named may be that of a machine's vault.
    return isOwn ? user : "\(user); for the machine's vault, \(page)"
  }

  /// Reports if the socket of the machine's vault does not let everyone connect. The daemon decides about its callers
  /// itself.
  static func openness(_ state: FileState, _ path: String) -> Diagnosis? {
    switch state {
    case .hidden(EACCES):
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
      return .warn("socket", "\(folder) is closed to you", fix: "as root, `chmod 755 \(folder)` opens it")
    case .there(.socket, _, let mode, _) where mode & 0o222 != 0o222:
      return .warn(
        "socket", "\(path) has mode \(String(mode, radix: 8)), so only its owner and root can connect",
        fix: "as root, `chmod 666 \(path)` lets everyone ask the daemon")
    case .there(.socket, _, let mode, _): return .ok("socket", "\(path), mode \(String(mode, radix: 8))")
    case .there, .missing, .hidden: return nil
    }
  }
}
