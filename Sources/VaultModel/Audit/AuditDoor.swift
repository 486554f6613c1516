/// The doors of the daemon by which a request comes in. Raw values are the names in the audit log, which are stored and
/// never change.
public enum AuditDoor: String, CaseIterable, Sendable {
  /// The socket for clients.
  case varlink
  /// The service manager's socket for credentials.
  case credentials
  /// The socket of the ssh-agent.
  case sshAgent = "ssh-agent"
  /// The Secret Service on the session bus.
  case secretService = "secret-service"
}
