internal import VaultCore
internal import VaultModel
internal import VaultStore

// The tally: one record behind the last one, of what is counted and not written down. The next record takes its place,
// so that a daemon that is killed loses no counts, and no number of counts makes the log longer.
extension Audit {
  /// The entries that the tally has, where one record holds all of them.
  var untold: [AuditEntry] { AuditCounts.entries(of: copiedCounts) }

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
    var counts = copiedCounts
    // Before the first unlock it is bounded as everything is: without names it is small.
    if !writing.mayTake(.values, for: .lastCount, settings, 0) {
      for index in counts.indices { Self.forgetNames(&counts[index].counts) }
    }
    guard Self.shorten(&counts), fill(counts) else {
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

  /// Writes what is in memory before the log is copied, and what is counted as a record like any other: a tally is none
  /// of the copy. What one record does not hold is without names in it, as in a tally.
  func willCopy() {
    countAll()
    if let keychain = keychain(), subjects.isCounting, seal(keychain) {
      var counts = copiedCounts
      if Self.shorten(&counts), fill(counts), seal(keychain) {
        subjects.haveToldAll()
      } else {
        // They are counted on, and the tally of the new store has them.
        block.empty()
        tallyLater()
      }
    }
    write(isLast: true)
  }

  /// A copy of all counts, from which names are left out until one record holds them.
  private var copiedCounts: [(subject: AuditSubject, counts: AuditCounts)] {
    subjects.countedSubjects.map { (subject: $0, counts: $0.counts) }
  }

  /// Fills the block with counts; false where there are more than it holds.
  private func fill(_ counts: [(subject: AuditSubject, counts: AuditCounts)]) -> Bool {
    for entry in AuditCounts.entries(of: counts) {
      guard !block.isFull else { return false }
      block.add(entry)
    }
    return true
  }

  /// Makes the tally so short that a block holds it: whoever has most in it loses names first, and those of changes of
  /// rights go last; false where it cannot be.
  private static func shorten(_ counts: inout [(subject: AuditSubject, counts: AuditCounts)]) -> Bool {
    var sizes = counts.map { $0.counts.size(of: $0.subject) }
    var size = sizes.reduce(0, +)
    while size > AuditBlock.capacity {
      guard let index = shortenOne(&counts) else { return false }
      let now = counts[index].counts.size(of: counts[index].subject)
      size += now - sizes[index]
      sizes[index] = now
    }
    return true
  }

  /// Takes names, or users, out of the counts of one subject; the answer is its index, and nil where there are none
  /// left.
  private static func shortenOne(_ counts: inout [(subject: AuditSubject, counts: AuditCounts)]) -> Int? {
    for part in AuditPart.allCases.reversed() {
      if let index = largest(counts, { $0.named(part) }) {
        counts[index].counts.forgetNames(part)
        return index
      }
    }
    guard let index = largest(counts, { $0.users.count - 1 }) else { return nil }
    counts[index].counts.forgetUsers()
    return index
  }

  /// The index of the subject that has most of something; nil where none has any.
  private static func largest(
    _ counts: [(subject: AuditSubject, counts: AuditCounts)], _ measure: (AuditCounts) -> Int
  ) -> Int? {
    let sizes = counts.map { measure($0.counts) }
    return sizes.indices.max { sizes[$0] < sizes[$1] }.flatMap { sizes[$0] > 0 ? $0 : nil }
  }

  private static func forgetNames(_ counts: inout AuditCounts) {
    for part in AuditPart.allCases { counts.forgetNames(part) }
  }
}
