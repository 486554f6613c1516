internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The version of this program. A daemon that was not restarted after an update is older.
enum ClientVersion {
  static let text = ProgramVersion.text
  /// The answer to `--version`.
  static let line = "vault \(text)"

  /// A sentence that names both versions if they differ.
  static func difference(from status: Wire.StatusReply) -> String {
    "the daemon is version \(Printable.text(status.version)), and this program \(text)"
  }

  /// A sentence that says that the daemon is of another build although its version is the same; nil if nothing says so.
  ///
  /// Both builds contain the interface's definition with its comments, which few builds share. So a difference is
  /// certain, and equality proves nothing.
  static func otherBuild(_ session: Session) -> String? {
    guard let served = try? session.call({ vault in try vault.interfaceDescription() }) else { return nil }
    let own = "\(VaultInterface.description)"
    guard !served.utf8.elementsEqual(own.utf8) else { return nil }
    return "the daemon is a different build than this program, although both are version \(text)"
  }

  /// The command that makes the installed version of the daemon run. The vault must be unlocked again afterwards.
  static func restart(_ status: Wire.StatusReply, system: Bool) -> String {
    system
      ? "`systemctl restart vaultd`" : "end it with `kill \(status.pid)`, and the next command starts what is installed"
  }
}
