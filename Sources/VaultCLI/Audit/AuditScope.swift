internal import VaultClient
internal import VaultWire

/// The part of the audit log that a caller sees, for the sentences about a search that found nothing.
enum AuditScope {
  /// True if the caller is no administrator, and so sees only the entries of its own programs.
  static func isOwn(_ session: Session) throws(Failure) -> Bool {
    try session.call { vault in try vault.status() }.audit == nil
  }

  /// The end of a sentence for a caller that sees only its own entries; empty for an administrator, for whom `whose` is
  /// empty.
  static func note(_ whose: String) -> String { whose.isEmpty ? "" : "; you see only theirs" }
}
