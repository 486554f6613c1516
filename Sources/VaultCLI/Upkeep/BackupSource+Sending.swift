internal import VaultClient
internal import VaultModel
internal import VaultWire

extension BackupSource {
  /// Sends the backup to the daemon, which first asks for a secret of the backup.
  ///
  /// - Parameters:
  ///   - header: the backup's header, already read.
  ///   - recovery: whether a recovery code opens the backup.
  ///   - checks: whether the daemon only reads the backup and restores nothing.
  /// - Returns: the slots that the restore left out.
  func send(
    _ header: [UInt8], _ session: Session, _ answers: Answers, recovery: Bool, checks: Bool
  ) throws(Failure) -> [Wire.Slot] {
    // For a backup from a pipe, only the header tells the size.
    let all = size ?? BackupOutline(header)?.count ?? header.count
    var bar = ProgressBar(checks ? "checking" : "restoring", of: all)
    let leftOut = try session.converse(answers) { vault, method, answer in
      var done = header.count
      return try vault.restore(
        header: header, method: method ?? (recovery ? SlotKind.recovery.name : nil), checks: checks,
        read: { bytes in
          // The rest takes time, and the daemon asks nothing more.
          answers.finish()
          let count = try read(into: &bytes)
          done += count
          bar.show(done)
          return count
        }, answer: answer)
    }
    _ = consume bar
    return leftOut
  }
}
