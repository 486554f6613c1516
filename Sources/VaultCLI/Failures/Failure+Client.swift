internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

extension ClientError {
  /// The reason why there is no place for the user's own socket; nil for any other error.
  var lackOfPlace: String? {
    switch self {
    case .noRuntimeDirectory, .relativeRuntimeDirectory: Printable.text("\(self)")
    case .fault, .emptySocketPath, .foreignFolder, .impossibleSocket, .notUTF8, .unsafeSocket, .noDaemon, .daemonFailed,
      .disconnected, .timedOut, .protocolViolation, .tooLarge, .answerTooLarge, .notText, .system:
      nil
    }
  }
}

extension Failure {
  /// Explains why the daemon gave no answer.
  init(_ error: ClientError) {
    switch error {
    case .noRuntimeDirectory:
      self.init(
        .configuration, "XDG_RUNTIME_DIR is not set, so there is no place for the socket",
        "log in through a session, or give --socket, or --system for the machine's vault")
    case .relativeRuntimeDirectory:
      self.init(
        .configuration, "\(Printable.text("\(error)")), so there is no place for the socket", SocketPath.remedy)
    case .emptySocketPath(let variable):
      self.init(.usage, "\(error)", "give the path of a socket\(variable.map { ", or unset \($0)" } ?? "")")
    case .foreignFolder(let folder): self.init(foreign: folder)
    case .impossibleSocket(_, let remedy): self.init(.configuration, Printable.text("\(error)"), remedy)
    case .notUTF8: self.init(.configuration, "\(error)", "set it to another value")
    case .unsafeSocket(let reason):
      self.init(
        .denied, "the socket cannot be trusted: \(Printable.text(reason))",
        "correct that, or give another with --socket"
      )
    case .noDaemon(let path):
      self.init(.unavailable, "no daemon listens on \(Printable.text(path))", Self.startDaemon(path))
    case .daemonFailed(let status, let message): self.init(daemonStatus: status, message)
    case .disconnected:
      self.init(.unavailable, "the daemon went away before it answered", "see its log, and try again")
    case .protocolViolation(let reason):
      self.init(
        .software, "the program that listens there does not speak io.vaultd.Vault: \(Printable.text(reason))",
        Self.seeDoctor)
    case .fault(let fault): self.init(fault)
    case .timedOut: self.init(.retry, "the daemon did not answer in time", "try again, and see \(Hint.vault("doctor"))")
    case .tooLarge(let limit):
      self.init(.invalid, "the request is larger than the limit of \(limit) bytes", "store less, or store it in parts")
    case .answerTooLarge(let limit):
      self.init(
        .invalid, "the answer is longer than the limit of \(Counted.size(limit))", "ask for less")
    case .notText(let name):
      self.init(.invalid, "\(Printable.quoted(name)) is not text", "read it as bytes")
    case .system("vaultd", ENOENT):
      self = .notInstalled
    case .system(let call, let code):
      let exit: Exit = code == EACCES || code == EPERM ? .denied : .io
      self.init(exit, "\(call): \(Output.describe(code))", Self.seeDoctor)
    }
  }

  /// Explains that a folder of the environment belongs to another user.
  init(foreign folder: ForeignFolder) {
    let name = Account.name(of: folder.owner).map { Printable.text($0) }
    self.init(.configuration, Printable.text(folder.event(name)), folder.remedy(name))
  }

  /// The advice if no daemon listens at `path`. The machine's daemon is started by systemd, if the machine runs it.
  private static func startDaemon(_ path: String) -> String {
    guard path == SocketLocation.systemPath, FileState("/run/systemd/system").exists else { return "start vaultd" }
    return "start it with `systemctl enable --now vaultd.socket`, see vaultd(8)"
  }

  /// The advice for a fault that only a check of everything can explain.
  static var seeDoctor: String { "see \(Hint.vault("doctor"))" }

  /// The reason in the output of a `vaultd` that ended: the last line that begins with its name. Lines before it may
  /// come from its log. If no line has the name, the first one is taken, which may come from a loader that missed a
  /// library.
  static func reason(of message: String) -> String {
    let name = "vaultd: "
    let lines = message.split(separator: "\n")
    let reason = lines.last { $0.hasPrefix(name) }.map { $0.dropFirst(name.count) }
    return String(reason ?? lines.first ?? "")
  }

  /// Describes a `vaultd` that did not start, with its own words and its exit code, which means the same as the
  /// client's.
  private init(daemonStatus status: Int32, _ message: String) {
    // Exit codes from 126 on are a shell's: here they come from the loader.
    let exit = status < Exit.notRunnable.rawValue ? Exit(rawValue: status) ?? .unavailable : .unavailable
    let said = Failure.reason(of: message)
    self.init(
      exit,
      said.isEmpty
        ? "vaultd ended with status \(status); run it by hand to see why"
        : "vaultd did not start: \(Printable.text(said))")
  }
}

extension Failure {
  /// The failure where there is no daemon, and no program for one.
  static var notInstalled: Failure {
    if let path = Daemon.barredProgram { return .notExecutable(path) }
    return Failure(
      .unavailable, "no daemon is running and vaultd is not installed beside vault or in PATH", "install it")
  }

  /// The failure where the program to start is there but may not be executed.
  static func notExecutable(_ path: String) -> Failure {
    Failure(.unavailable, "\(Printable.text(path)) is not executable", "make it executable, or install it again")
  }
}
