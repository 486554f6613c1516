internal import VaultCore
internal import VaultModel
internal import VaultStore

// The tally: one record after the last one, with the counts that have no entries yet. The next record replaces it. So a
// daemon that is killed loses no counts, and no number of counts makes the log longer.
extension Audit {
  /// The entries for all counts that are not written yet.
  var untold: [AuditEntry] { AuditCounts.entries(of: subjects.countedSubjects.map { ($0, $0.counts) }) }

  func tallyLater() {
    counting.isTallyDue = true
    commitLater()
  }

  /// True when the tally must be written, even if there is nothing else to write.
  var isTallyDue: Bool { counting.isTallyDue || isRequired && counting.hasNews }

  /// Seals the counts after the last record; the block must be empty. Returns false if the counts cannot be sealed, or
  /// if an answer needs the counts in the tally and they do not fit.
  func sealTally(_ keychain: Keychain) -> Bool {
    guard subjects.isCounting else {
      (counting.hasNews, counting.isTallyDue) = (false, false)
      return true
    }
    if !counting.hasNews, keychain.hasAuditTally { return true }
    countRepeats(beforeChainOf: keychain, at: .max)
    guard seal(keychain) else { return false }
    // Before the first unlock the tally is limited like everything else: without names it is small.
    let hasNames = writing.mayTake(.values, for: .lastCount, settings, 0)
    guard fill(shortCounts(hasNames: hasNames)) else {
      block.empty()
      guard isRequired else { return true }
      note("the counts do not fit into one record")
      return false
    }
    do throws(VaultError) { try keychain.sealAuditTally(&block, now: clock.wall()) } catch {
      block.empty()
      note(error)
      return false
    }
    (counting.hasNews, counting.isTallyDue) = (false, false)
    return true
  }

  /// Writes everything in memory before the log is copied, and the counts as an ordinary record, because the copy does
  /// not include the tally. If one record cannot hold the counts, names are left out, as in a tally.
  func willCopy() {
    countAll()
    if let keychain = keychain(), subjects.isCounting, seal(keychain) {
      if fill(shortCounts(hasNames: true)), seal(keychain) {
        subjects.haveToldAll()
      } else {
        // The counts stay, and go into the tally of the new store.
        block.empty()
        tallyLater()
      }
    }
    // The copy contains the usage of the log as it was stored last.
    write(anchored: true, isLast: true)
  }

  private func shortCounts(hasNames: Bool) -> AuditShortCounts {
    subjects.shortCounts(hasNames: hasNames, in: (settings.size, clock.boot()))
  }

  /// Fills the block with counts; false if there are more than the block holds.
  private func fill(_ counts: AuditShortCounts) -> Bool {
    guard counts.fits else { return false }
    for entry in counts.entries { block.add(entry) }
    return true
  }
}
