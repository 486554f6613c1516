internal import VaultClient
internal import VaultModel
internal import VaultWire

extension BackupSource {
  /// Sends the backup to the daemon, which asks for a secret of it first.
  ///
  /// - Parameters:
  ///   - header: its header, which was read.
  ///   - recovery: whether a recovery code opens it.
  ///   - checks: whether the daemon only reads it.
  /// - Returns: the slots that a restore has left out.
  func send(
    _ header: [UInt8], _ session: Session, _ answers: Answers, recovery: Bool, checks: Bool
  ) throws(Failure) -> [Wire.Slot] {
    // Of what comes through a pipe only the header tells it.
    let all = size ?? BackupOutline(header)?.count ?? header.count
    var bar = ProgressBar(checks ? "checking" : "restoring", of: all)
    let leftOut = try session.converse(answers) { vault, method, answer in
      var done = header.count
      return try vault.restore(
        header: header, method: method ?? (recovery ? SlotKindArgument.recovery.rawValue : nil), checks: checks,
        read: { bytes in
          // The rest takes its time, and asks nothing more.
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
