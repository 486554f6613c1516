import VaultCore
import VaultModel

/// The saving of the audit log of a damaged store into another store that has the same keys and no log, in steps.
///
/// Records are copied as they are, with their numbers. What is lost between them is a gap of the other log, and what is
/// lost at the end is followed by the numbers of the lost entries once more. The log itself says both.
final class AuditSalvage {
  /// The most places at which the log says that something is lost.
  private static let mostNotes = 64

  private let source: Keychain
  private let target: Keychain
  private let mostEarly: Int64
  private var walk: AuditWalk?
  private var parts: AuditParts?
  private var saved: AuditParts.Saved?
  /// The sentences that the log says about what is lost, each with a further detail.
  private var notes: [(text: String, detail: String)] = []
  private static let again = "their numbers are used again"

  /// - Parameter mostEarly: the most bytes of the log that a daemon writes before an unlock.
  init(from source: Keychain, to target: Keychain, mostEarly: Int64) {
    (self.source, self.target, self.mostEarly) = (source, target, mostEarly)
  }

  /// Continues for about as long as `left` items take; true at the end. The other store needs an open transaction.
  ///
  /// - Parameters:
  ///   - lose: called with each loss.
  ///   - haveRead: called when the end of the log is reached.
  func step(_ left: inout Int, lose: (Finding) -> Void, haveRead: () -> Void) throws(VaultError) -> Bool {
    guard left > 0 else { return false }
    do throws(VaultError) {
      // If the store has no log, nothing is lost.
      if try hasNoLog() { return true }
      if saved == nil {
        guard try read(left, lose) else { return false }
        haveRead()
      }
      return try target.copyAudit(of: source, rows: left, saved?.anchor)
    } catch .corrupt(let reason) {
      lose(Finding(.damaged, "the audit log is lost: \(reason)"))
      notes = [("all entries are lost", Self.again)]
      // The part that was copied so far has no end.
      try target.database.cutAudit(upTo: .max)
      return true
    }
  }

  private func hasNoLog() throws(VaultError) -> Bool {
    do throws(VaultError) {
      guard try source.database.meta(MetaName.auditEnd) == nil else { return false }
      return try source.isAuditEmpty()
    } catch {
      // A log that cannot be read is there.
      guard case .corrupt = error else { throw error }
      return false
    }
  }

  /// Continues the walk over the log; true at its end.
  private func read(_ rows: Int, _ lose: (Finding) -> Void) throws(VaultError) -> Bool {
    let walk = if let walk { walk } else { try AuditWalk(source, isTail: false, readsTally: true) }
    self.walk = walk
    var parts = parts ?? AuditParts(walk, (try? source.anchor()) ?? nil)
    defer { self.parts = parts }
    guard try walk.step(source, rows: rows, { _, _ in }, passed: { parts.meet($0, walk, source) }) else { return false }
    let saved = parts.saved(mostEarly: mostEarly)
    for fault in walk.faults { lose(Finding(fault)) }
    for entries in saved.leftOut {
      lose(Finding(.damaged, "\(Self.leftOut(entries)): more were written before an unlock than have room"))
    }
    for entries in saved.unproven {
      lose(Finding(.foreign, "\(Self.leftOut(entries)): no key vouches for what stands there"))
    }
    note(saved, walk, isEndDoubtful: walk.found > parts.faults)
    for note in notes { lose(Finding(.missing, "the audit log: \(note.text)")) }
    (self.saved, self.walk) = (saved, nil)
    return true
  }

  // MARK: What the log says

  private static func text(_ entries: ClosedRange<Int64>) -> String {
    entries.count == 1
      ? "entry \(entries.lowerBound)" : "the entries \(entries.lowerBound) to \(entries.upperBound)"
  }

  private static func leftOut(_ entries: ClosedRange<Int64>) -> String {
    "\(text(entries)) of the audit log \(entries.count == 1 ? "is" : "are") left out"
  }

  /// Notes what is lost.
  ///
  /// - Parameter isEndDoubtful: true if nobody can tell whether the log ended where the walk ended.
  private func note(_ saved: AuditParts.Saved, _ walk: AuditWalk, isEndDoubtful: Bool) {
    let cut = saved.anchor.cut
    // Without the anchor, only the first row says what came before it.
    if cut.row > walk.start.row || walk.anchorProblem != nil && cut.entries > 0 {
      notes.append(("entries before entry \(cut.entries + 1) may be lost", ""))
    }
    for entries in saved.lost.prefix(Self.mostNotes) {
      if entries.isEmpty {
        notes.append(("what was before entry \(entries.lowerBound) is lost", ""))
      } else {
        let text = Self.text(ClosedRange(entries))
        notes.append(("\(text) \(entries.count == 1 ? "is" : "are") lost", ""))
      }
    }
    for entries in saved.marked.prefix(Self.mostNotes) {
      let text = Self.text(entries)
      notes.append(("\(text) \(entries.count == 1 ? "is" : "are") vouched for by the boot key alone", ""))
    }
    let others = saved.lost.count - Self.mostNotes
    if others > 0 { notes.append(("in \(Counted.text(others, "more place")), entries are lost", "")) }
    let end = saved.anchor.joined
    let isEndLost = end.row < walk.position.row || end.entries < walk.lastEntry
    if isEndLost {
      let text = end.entries == 0 ? "all entries are lost" : "the entries after \(end.entries) are lost"
      notes.append((text, Self.again))
    } else if isEndDoubtful {
      notes.append(("entries after \(end.entries) may be lost", Self.again))
    } else if notes.isEmpty, walk.found > 0 {
      notes.append(("entries may be lost", ""))
    }
  }

  /// Records in the log itself what is lost. Call this after the last step, without a transaction.
  ///
  /// - Parameter now: Unix seconds.
  func recordLosses(now: Int64) throws(VaultError) {
    guard !notes.isEmpty else { return }
    var block = AuditBlock()
    for note in notes { block.add(.salvage, .failed, time: now, caller: nil, item: note.text, detail: note.detail) }
    notes = []
    target.bound.isAuditJoined = true
    try target.sealAudit(&block, now: now)
    try target.writeAudit(anchored: true)
  }
}
