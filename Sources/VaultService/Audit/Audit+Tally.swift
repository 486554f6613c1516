internal import VaultCore
internal import VaultModel
internal import VaultStore

// The tally: one record behind the last one, of what is counted and not written down. The next record takes its place,
// so that a daemon that is killed loses no counts, and no number of counts makes the log longer.
extension Audit {
  /// The entries that the tally has, where one record holds all of them.
  var untold: [AuditEntry] { AuditCounts.entries(of: subjects.countedSubjects.map { ($0, $0.counts) }) }

  func tallyLater() {
    counting.isTallyDue = true
    commitLater()
  }

  /// True when the tally is to be written, whether or not something else is.
  var isTallyDue: Bool { counting.isTallyDue || isRequired && counting.hasNews }

  /// Seals what is counted behind the last record, whose block must be empty; false where an answer needs it to have a
  /// place there, and it has none.
  func sealTally(_ keychain: Keychain) -> Bool {
    guard subjects.isCounting else {
      (counting.hasNews, counting.isTallyDue) = (false, false)
      return true
    }
    if !counting.hasNews, keychain.hasAuditTally { return true }
    countRepeats(beforeChainOf: keychain, at: .max)
    guard seal(keychain) else { return false }
    // Before the first unlock it is bounded as everything is: without names it is small.
    let hasNames = writing.mayTake(.values, for: .lastCount, settings, 0)
    guard fill(subjects.shortCounts(hasNames: hasNames)) else {
      block.empty()
      guard isRequired else { return true }
      note("more is counted than one record holds")
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

  /// Writes what is in memory before the log is copied, and what is counted as a record like any other: a tally is none of
  /// the copy. What one record does not hold is without names in it, as in a tally.
  func willCopy() {
    countAll()
    if let keychain = keychain(), subjects.isCounting, seal(keychain) {
      if fill(subjects.shortCounts(hasNames: true)), seal(keychain) {
        subjects.haveToldAll()
      } else {
        // They are counted on, and the tally of the new store has them.
        block.empty()
        tallyLater()
      }
    }
    write(isLast: true)
  }

  /// Fills the block with counts; false where there are more than it holds.
  private func fill(_ counts: AuditShortCounts) -> Bool {
    guard counts.fits else { return false }
    for entry in counts.entries { block.add(entry) }
    return true
  }
}
