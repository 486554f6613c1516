internal import VaultCore
internal import VaultModel
internal import VaultStore

/// A backup that is only read, piece by piece. It is handed over to one thread.
///
/// It has the key of the backup's stream, which opens only that copy. `@unchecked` is safe because the loop gives the
/// object away and does not access it again.
package final class ReadBackup: @unchecked Sendable {
  private var reader: BackupReader?

  init(_ reader: consuming BackupReader) { self.reader = consume reader }

  /// Reads the whole backup.
  ///
  /// - Parameters:
  ///   - receive: fills the given buffer with the next bytes.
  ///   - isAtEnd: tells whether there are no more bytes.
  /// - Throws: a ``Refusal`` that names the damage, or the errors of the closures.
  package func read(receive: (inout MutableRawSpan) throws -> Void, isAtEnd: () throws -> Bool) throws {
    guard var reader = reader.take() else { throw Refusal.cancelled }
    try BackupIntake.turningErrors { try BackupIntake.read(into: &reader, receive: receive, isAtEnd: isAtEnd) }
  }
}

// The check of a backup: it reads everything that a restore reads, and writes nothing that a restore writes. It works
// with and without a vault.
extension Upkeep {
  /// The subject matter of the check in words for the audit log.
  package static let checkedBackup = "check of a backup"

  /// Begins to check a backup. The parameters are those of ``restore(_:method:_:_:)``, but the work from `receive` ends
  /// with a success if the backup was whole, and with a refusal otherwise.
  package func checkBackup(
    _ bytes: [UInt8], method: String?, _ prompter: any Prompter,
    _ receive: @escaping (ReadBackup) -> TransferWork<Result<Void, Refusal>>?
  ) {
    let header: BackupHeader
    let slots: [SlotRecord]
    let caller: Backoff.Source
    do throws(Refusal) {
      try checkNoTransfer()
      (header, slots, caller) = try admit(bytes, method, prompter)
    } catch { return ways.refuse(prompter, error, .backup, Self.checkedBackup) }
    let conversation = ways.converse(prompter, .backup, Self.checkedBackup)
    ask(conversation, slots, header, by: caller) { [unowned self] vaultKey in
      let reader: ReadBackup
      do throws(Refusal) {
        try checkNoTransfer()
        reader = try Self.reader(header, vaultKey)
      } catch { return conversation.fail(error) }
      let caller = conversation.caller
      // This wipes the vault key as well.
      conversation.end()
      guard let work = receive(reader) else {
        return vault.audit.record(.backup, .cancelled, caller, item: Self.checkedBackup)
      }
      let new = Transfer(.check, vault, stop: work.stop)
      transfer = new
      vault.log.info("a backup of \(header.size) bytes is being checked")
      work.run(new) { [unowned self] result in
        transfer = nil
        let outcome: AuditOutcome
        switch result {
        case .success: outcome = .ok
        case .failure(let refusal): outcome = refusal.outcome
        }
        vault.audit.record(.backup, outcome, caller, item: Self.checkedBackup)
      }
    }
  }

  private static func reader(_ header: BackupHeader, _ vaultKey: Handover) throws(Refusal) -> ReadBackup {
    do throws(VaultError) {
      let reader = try vaultKey.withSecret { (key: borrowing SecureBytes) throws(VaultError) in
        ReadBackup(try BackupReader(header, vaultKey: key))
      }
      if let reader { return reader }
    } catch .corrupt(let reason) {
      throw .invalidBackup(reason)
    } catch { throw Refusal(error) }
    throw .cancelled
  }
}
