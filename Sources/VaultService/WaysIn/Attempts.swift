internal import VaultCore

/// The failed attempts to open the vault, and how long each caller has to wait for the next one.
package final class Attempts {
  private let vault: Vault
  private let file: BackoffFile
  private var backoff: Backoff
  /// The uids for which a key is being derived from a secret: one derivation at a time for each. A second attempt beside
  /// one would escape the backoff.
  private var deriving: Set<UInt32> = []

  package init(_ vault: Vault) {
    self.vault = vault
    file = BackoffFile(directory: vault.directory)
    backoff = file.read(now: vault.clock.boot()) { reason in
      vault.log.warning("failed attempts are not known, so that everyone waits a minute: \(reason)")
    }
  }

  /// The refusal of an attempt that comes too soon; nil when it may be made now.
  func wait(for caller: Backoff.Source) -> Refusal? {
    let nanoseconds = backoff.wait(for: caller, now: vault.clock.boot())
    if nanoseconds > 0 { return .backingOff(method: caller.method, wait: Int((nanoseconds + 999_999) / 1_000_000)) }
    // PAM derives nothing here.
    guard caller.method != SlotKind.pam.name, deriving.contains(caller.uid) else { return nil }
    return .backingOff(method: caller.method, wait: 1000)
  }

  /// The failures that are held against a caller now.
  func failures(of caller: Backoff.Source) -> Backoff.Failures? { backoff.failures[caller] }

  /// Counts an attempt before it is made; the answer is the wait in seconds if it fails.
  func charge(_ caller: Backoff.Source) -> Int64 {
    let seconds = backoff.charge(caller, now: vault.clock.boot())
    save()
    return seconds
  }

  func forgive(_ caller: Backoff.Source) {
    backoff.forgive(caller)
    save()
  }

  /// Takes a charge back for an attempt that was not made; `earlier` is what was held against the caller before.
  func takeBack(_ caller: Backoff.Source, to earlier: Backoff.Failures?) {
    backoff.takeBack(caller, to: earlier)
    save()
  }

  /// Takes note that keys are derived for a uid; false when that is so already.
  func beginDeriving(for uid: UInt32) -> Bool { deriving.insert(uid).inserted }
  func endDeriving(for uid: UInt32) { deriving.remove(uid) }

  private func save() {
    // Without the file the wait still holds until the daemon ends; that is worth a line, not a refusal.
    do throws(SystemError) { try file.write(backoff) } catch {
      vault.log.warning("cannot keep failed attempts: \(error)")
    }
  }
}
