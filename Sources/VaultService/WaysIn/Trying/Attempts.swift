internal import VaultCore
internal import VaultModel

/// The failed attempts to unlock the vault, and the time that each caller must wait before the next attempt.
package final class Attempts {
  private let vault: Vault
  private let file: BackoffFile
  private var backoff: Backoff
  /// The derivations of keys from a secret that are under way, one at a time for each uid. A second attempt beside the
  /// first would escape the backoff.
  private var deriving: [UInt32: Derivation] = [:]
  /// The attempts that wait for the derivation under way for their uid, in the order in which they came.
  private var line: [UInt32: [(place: Place, work: () -> Void)]] = [:]
  /// The lines of the turns in which attempts go on.
  private var goingOn: [UInt32: Line] = [:]

  /// The purpose of a derivation.
  enum Derivation {
    /// A secret is tried on slots.
    case trial
    /// A slot is made for a new secret.
    case making
  }

  /// The place of an attempt in the line of its uid.
  final class Place {}

  package init(_ vault: Vault) {
    self.vault = vault
    file = BackoffFile(directory: vault.directory)
    backoff = file.read(now: vault.clock.boot()) { reason in
      vault.log.warning("the failed attempts are not known, so everyone waits a minute: \(reason)")
    }
  }

  /// The refusal of an attempt that comes too soon; nil if the attempt may be made now.
  ///
  /// - Parameter afterTrial: true for an attempt that waits for the one under way, and that is decided on after it.
  func wait(for caller: Backoff.Source, afterTrial: Bool = false) -> Refusal? {
    // The charge for an attempt that is still being checked is no failure yet, even if its caller has left or a lock
    // has cut it off: a right secret takes it back. So its wait, of up to a minute, is not announced. PAM needs no key
    // derivation here.
    if caller.method != SlotKind.pam.name, deriving[caller.uid] != nil {
      if afterTrial, isTrying(for: caller.uid) { return nil }
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

  // MARK: One derivation at a time

  /// True while a secret of the uid is tried. Another attempt waits for the result: it may be the same person's.
  private func isTrying(for uid: UInt32) -> Bool { deriving[uid] == .trial }

  /// True if an attempt of the uid must wait: while another one is made, and while earlier ones still wait.
  func mustWait(for uid: UInt32) -> Bool { isTrying(for: uid) || line[uid] != nil }

  /// Notes that keys are being derived for a uid; false if a derivation for the uid is under way already.
  func begin(_ derivation: Derivation, for uid: UInt32) -> Bool {
    guard deriving[uid] == nil else { return false }
    deriving[uid] = derivation
    return true
  }

  func endDeriving(for uid: UInt32) { deriving[uid] = nil }

  /// Runs the work once no derivation is under way for the uid, after the work that came before.
  func wait(for uid: UInt32, then work: @escaping () -> Void) -> Place {
    let place = Place()
    line[uid, default: []].append((place, work))
    return place
  }

  /// Takes an attempt out of the line; false if it has left the line already.
  func leave(_ place: Place, of uid: UInt32) -> Bool {
    guard let index = line[uid]?.firstIndex(where: { $0.place === place }) else { return false }
    line[uid]?.remove(at: index)
    forgetEmptyLine(of: uid)
    return true
  }

  /// Lets the first of those go on who have waited for the end of a derivation, and the others in later turns, until
  /// one of them begins another derivation. After a wrong secret, all of them are refused, and there may be thousands.
  func goOn(for uid: UInt32) {
    guard deriving[uid] == nil, let first = line[uid]?.first else { return }
    line[uid]?.removeFirst()
    forgetEmptyLine(of: uid)
    first.work()
    guard deriving[uid] == nil, line[uid] != nil else { return }
    let turns = goingOn[uid] ?? Line(of: uid)
    goingOn[uid] = turns
    if turns.count == 0 { vault.waiting.turns?.wait(turns) { [weak self] in self?.goOn(for: uid) } }
  }

  private func forgetEmptyLine(of uid: UInt32) {
    if line[uid]?.isEmpty == true { (line[uid], goingOn[uid]) = (nil, nil) }
  }

  private func save() {
    // Without the file the wait still holds until the daemon ends, so a failed write is worth a warning but no refusal.
    do throws(SystemError) { try file.write(backoff) } catch {
      vault.log.warning("cannot keep failed attempts: \(error)")
    }
  }
}
