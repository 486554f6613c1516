internal import VaultCore
internal import VaultModel
internal import VaultStore

// The tally: an additional record at the end of the log, with the counts that have no entries yet. The next record
// replaces the tally. So a daemon that is killed loses no counts, and no number of counts makes the log longer.
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
    // Before the first unlock, the limit of ``Writing/mayTake(_:for:_:_:)`` applies to the tally, too: beyond the limit
    // the tally has no names, so it is small.
    let hasNames = writing.mayTake(.values, for: .lastCount, settings, 0)
    guard fillWithCounts(&block, hasNames: hasNames) else {
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

  /// Writes everything in memory before the store is copied: the entries, the counts as a tally, and the usage of the
  /// log. However often the store is copied, the log does not become longer.
  func willCopy() {
    countRepeats()
    if subjects.isCounting { tallyLater() }
    write(anchored: true, isCopied: true)
  }

  /// Fills a block with the counts, for a copy of the log that does not have the tally. If one record cannot hold the
  /// counts, names are left out, as in a tally.
  ///
  /// - Returns: false if one record cannot hold the counts even so. Then the block is as it was.
  @discardableResult
  func fillWithCounts(_ block: inout AuditBlock, hasNames: Bool = true) -> Bool {
    let counts = shortCounts(hasNames: hasNames)
    guard counts.fits else { return false }
    for entry in counts.entries { block.add(entry) }
    return true
  }

  private func shortCounts(hasNames: Bool) -> AuditShortCounts {
    subjects.shortCounts(hasNames: hasNames, in: (settings.size, clock.boot()))
  }

  // MARK: A rekey

  /// Writes everything in memory before the vault gets a new key, because records in memory are sealed to the old key.
  func willRekey() {
    countRepeats()
    _ = tellCounts(for: .lastCount, most: Counting.mostAtLock)
    // The new store contains the usage of the log as it was stored last.
    write(anchored: true, isLast: true)
  }

  /// Fills the last record of the log before the vault gets a new key. It has the counts, because a process that is
  /// killed right after the rekey has written no tally to the new store.
  func fillWithRekey(_ block: inout AuditBlock) {
    if settings.mode != .off {
      block.add(.rekey, .ok, time: clock.wall(), caller: nil, item: "done", detail: Keychain.rekeyedWithLog)
    }
    if subjects.isCounting { fillWithCounts(&block) }
  }

  /// Notes that the vault has got a new key, and that the record of ``fillWithRekey(_:)`` is written.
  func haveRekeyed() {
    if shortCounts(hasNames: true).fits { subjects.haveToldAll() } else { tallyLater() }
    haveWritten()
  }
}
