internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The backup that `--force` would replace. Only a person may decide to replace the backup of another vault: that file
/// may be all that is left of it.
struct ReplacedBackup {
  private let path: String
  private let label: BackupLabel

  /// Reads the file at `path`; nil if there is none, or if it is no backup.
  ///
  /// - Throws: ``Failure`` if the file cannot be read, so that nobody knows what it is.
  init?(_ path: String) throws(Failure) {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.unread(path, errno)
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: BackupLabel.count)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw Self.unread(path, errno) }
    guard let label = BackupLabel(Array(bytes.prefix(count))) else { return nil }
    (self.path, self.label) = (path, label)
  }

  private static func unread(_ path: String, _ code: Int32) -> Failure {
    Failure(
      .io, "cannot read \(Printable.quoted(path)), which may be the backup of another vault: \(Output.describe(code))",
      advice)
  }

  private static let advice = "if it is not needed any more, move it away or delete it; or name another file"

  /// Asks whether the file may be replaced, unless it is a backup of the vault that the daemon serves.
  ///
  /// - Throws: ``Failure`` unless a person says yes.
  static func check(_ path: String, _ session: Session) throws(Failure) {
    guard let old = try ReplacedBackup(path) else { return }
    // Without a vault, the command fails by itself.
    guard let vault = try session.call({ vault in try vault.status() }).vault, old.label.vault.hex != vault else {
      return
    }
    let made = StatusCommand.moment(old.label.created, now: Int64(time(nil)))
    let event = "\(Printable.quoted(path)) is a backup of another vault, made \(made)"
    // This exit code differs from that of other questions, so that a timer does not take it for a locked vault.
    guard Keyboard.canAsk else { throw Failure(.exists, "\(event), so it stays", advice) }
    try Confirmation(
      consequence: event, question: "\(event). Replace it? Whatever only that backup has would be gone.", advice: advice
    ).ask()
  }
}
