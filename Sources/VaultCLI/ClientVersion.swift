internal import VaultModel
internal import VaultWire

/// The version of the programs, which are released together; a daemon that an update did not restart is older.
enum ClientVersion {
  static let text = "0.1.0"

  /// Names both versions, where they differ.
  static func difference(from status: Wire.StatusReply) -> String {
    "the daemon is version \(Printable.text(status.version)), and this program \(text)"
  }

  /// The way to have the installed daemon run. The vault has to be unlocked again then.
  static func restart(_ status: Wire.StatusReply, system: Bool) -> String {
    system
      ? "`systemctl restart vaultd`" : "end it with `kill \(status.pid)`, and the next command starts what is installed"
  }
}
