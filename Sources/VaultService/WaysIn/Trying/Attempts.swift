internal import VaultCore
internal import VaultModel

/// The failed attempts to unlock the vault, and the time that each caller must wait before the next attempt.
package final class Attempts {
  private let vault: Vault
  private let file: BackoffFile
  private var backoff: Backoff
  /// The uids for which keys are being derived from a secret, one derivation at a time for each uid. A second attempt
  /// beside the first would escape the backoff.
  private var deriving: Set<UInt32> = []

  package init(_ vault: Vault) {
    self.vault = vault
    file = BackoffFile(directory: vault.directory)
    backoff = file.read(now: vault.clock.boot()) { reason in
      vault.log.warning("the failed attempts are not known, so everyone waits a minute: \(reason)")
    }
  }

  /// The refusal of an attempt that comes too soon; nil if the attempt may be made now.
  func wait(for caller: Backoff.Source) -> Refusal? {
    // The charge for an attempt that is still being checked is no failure yet, even if its caller has left or a lock
    // has cut it off: a right secret takes it back. So its wait, of up to a minute, is not announced. PAM needs no key
    // derivation here.
    if caller.method != SlotKind.pam.name, deriving.contains(caller.uid) {
      return .backingOff(method: caller.method, wait: 1000)
    }
    let nanoseconds = backoff.wait(for: caller, now: vault.clock.boot())
    guard nanoseconds > 0 else { return nil }
    return .backingOff(method: caller.method, wait: Int((nanoseconds + 999_999) / 1_000_000))
  }

  /// The failures that count against a caller now.
  func failures(of caller: Backoff.Source) -> Backoff.Failures? { backoff.failures[caller] }

  /// Counts an attempt before it is made.
  ///
  /// - Returns: the wait in seconds if the attempt fails.
  func charge(_ caller: Backoff.Source) -> Int64 {
    let seconds = backoff.charge(caller, now: vault.clock.boot())
    save()
    return seconds
  }

  func forgive(_ caller: Backoff.Source) {
    backoff.forgive(caller)
    save()
  }

  /// Takes back the charge for an attempt that was not made.
  ///
  /// - Parameter earlier: the failures that counted against the caller before.
  func takeBack(_ caller: Backoff.Source, to earlier: Backoff.Failures?) {
    backoff.takeBack(caller, to: earlier)
    save()
  }

  /// Notes that keys are being derived for a uid; false if a derivation for the uid is under way already.
  func beginDeriving(for uid: UInt32) -> Bool { deriving.insert(uid).inserted }
  func endDeriving(for uid: UInt32) { deriving.remove(uid) }

  private func save() {
    // Without the file the wait still holds until the daemon ends, so a failed write is worth a warning but no refusal.
    do throws(SystemError) { try file.write(backoff) } catch {
      vault.log.warning("cannot keep failed attempts: \(error)")
    }
  }
}
