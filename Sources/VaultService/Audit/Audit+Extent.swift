internal import VaultModel
internal import VaultStore

// From where to where the log goes: the part before an unlock, the oldest entries, and the settings for them.
extension Audit {
  /// The number of rows of the log before an unlock that are looked at before it is answered; the others soon after.
  private static let joinedAtOnce = 256

  /// Looks at what was written before the unlock, and vouches for it when it is whole.
  func join(_ keychain: Keychain) {
    do throws(VaultError) {
      guard let faults = try keychain.joinAudit(rows: Self.joinedAtOnce) else {
        _ = timer.after(1_000_000) { [weak self, weak keychain] in
          if let self, let keychain, self.keychain() === keychain { join(keychain) }
        }
        return
      }
      for fault in faults { record(.audit, .failed, nil, item: fault) }
      if let note = keychain.auditNote {
        record(.audit, .failed, nil, item: note)
        log.error("the audit log: \(note)")
      }
      cut(keychain)
      write(anchored: true)
    } catch { if error != .locked { log.error("the audit log could not be looked at: \(error.text)") } }
  }

  /// Takes the oldest entries out, where that is due.
  func cut(_ keychain: Keychain) {
    do throws(VaultError) {
      let gone = try keychain.cutAudit(toBytes: settings.size, olderThan: settings.age, now: clock.wall())
      if gone > 0 { record(.audit, .ok, nil, item: "\(gone) entries were taken out", detail: settings.text) }
    } catch { if error != .locked { log.error("the audit log could not be cut: \(error.text)") } }
  }

  // MARK: Settings

  /// Takes the settings of the daemon's start.
  func configure(_ settings: AuditSettings) { self.settings = settings }

  /// Takes new settings over; that is an entry of its own where it is another one than before.
  func reconfigure(_ new: AuditSettings) {
    guard new != settings else { return }
    let old = settings
    if old.mode == .off { settings.mode = .on }
    record(.audit, .ok, nil, item: new.text, detail: "before: \(old.text)")
    write(anchored: true)
    settings = new
    if let keychain = keychain() { cut(keychain) }
  }

  /// Writes what is in memory before the store is closed, also what was counted, which is not about the next one.
  func willClose() {
    countAll()
    write()
  }
}
