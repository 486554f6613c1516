internal import Glibc
public import VaultProcess
public import VaultWire

/// The reason why a call has no answer.
public enum ClientError: Error, Hashable, Sendable {
  /// `$XDG_RUNTIME_DIR` is not set, and `/run/user/UID` is not the user's alone, so there is no place for the user's
  /// socket.
  case noRuntimeDirectory
  /// `$XDG_RUNTIME_DIR` has this value, which is not an absolute path, and `/run/user/UID` is not the user's alone.
  case relativeRuntimeDirectory(String)
  /// The path of the socket is empty. It came from this variable; nil if the caller gave it.
  case emptySocketPath(variable: String?)
  /// A folder that the environment names belongs to another user, so neither a daemon nor its socket may be made there.
  case foreignFolder(ForeignFolder)
  /// No daemon listens and none can, because the path is too long for a socket, or the folder does not exist. The texts
  /// tell the reason and the remedy.
  case impossibleSocket(String, remedy: String)
  /// A variable that names files is not UTF-8: `$VAULT_SOCKET`, `$XDG_RUNTIME_DIR` or `$PATH`.
  case notUTF8(variable: String)
  /// The socket or its directory is not safe, or the wrong user made it or listens; nothing was sent. The text says
  /// what is wrong.
  case unsafeSocket(String)
  /// No daemon listens at this path.
  case noDaemon(String)
  /// `vaultd` was started and ended at once: its exit code (sysexits, or 128 + signal) and its output on stderr.
  case daemonFailed(status: Int32, message: String)
  /// The daemon went away before the answer was complete.
  case disconnected
  /// The program that answers does not speak the protocol.
  case protocolViolation(String)
  /// The daemon answered with an error.
  case fault(Fault)
  /// No answer came in time. ``Fault/timedOut`` is different: the daemon answers with it to a call that waits.
  case timedOut
  /// A request is larger than the protocol allows: `limit` bytes.
  case tooLarge(limit: Int)
  /// The parts of an answer that are kept together are larger than `limit` bytes.
  case answerTooLarge(limit: Int)
  /// The item's value is not UTF-8, so it cannot be returned as text.
  case notText(name: String)
  /// A system call failed.
  case system(String, errno: Int32)
}

extension ClientError {
  /// True if the mode of the socket, or of a folder above it, keeps this user from connecting.
  var isBarred: Bool { if case .system(_, EACCES) = self { true } else { false } }
}

extension ClientError: CustomStringConvertible {
  /// One line that says what happened. It contains no part of a secret.
  public var description: String {
    switch self {
    case .noRuntimeDirectory: "XDG_RUNTIME_DIR is not set"
    case .relativeRuntimeDirectory(let value): "XDG_RUNTIME_DIR is `\(value)`, which is not an absolute path"
    case .emptySocketPath(let variable): "\(variable ?? "the path of the socket") is empty"
    case .foreignFolder(let folder): folder.event(nil)
    case .impossibleSocket(let reason, _): "no daemon can listen there: \(reason)"
    case .notUTF8(let variable): "\(variable) is not UTF-8, so it is not accepted as a path"
    case .unsafeSocket(let reason): reason
    case .noDaemon(let path): "no daemon listens on \(path)"
    case .daemonFailed(let status, let message): message.isEmpty ? "vaultd ended with status \(status)" : message
    case .disconnected: "the daemon closed the connection"
    case .protocolViolation(let reason): "the daemon's answer is not understood: \(reason)"
    case .fault(let fault): fault.words().event
    case .timedOut: "the daemon did not answer in time"
    case .tooLarge(let limit): "the request is larger than \(limit) bytes"
    case .answerTooLarge(let limit): "the answer is larger than \(limit) bytes"
    case .notText(let name): "the value of \(name) is not text"
    case .system(let call, let code): unsafe "\(call): \(String(cString: strerror(code)))"
    }
  }
}
