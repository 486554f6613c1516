import VaultCore
import VaultModel

/// The parts of a damaged audit log that a salvage saves, as a walk over the log meets them. What is between them
/// becomes a gap.
///
/// A part is a sequence of rows of which each one is what was written after the one before. The first part begins where
/// the log begins according to its anchor. Another one begins with a chain, and is saved only if the unlocked vault
/// began that chain or one after it, because anyone who has the disk can write any other chain. A chain of the unlocked
/// vault vouches for all that comes before it in its part, because the log was checked up to there, and no more than
/// there was room for came from before the unlock.
struct AuditParts {
  private struct Part {
    let start: AuditPosition
    var end: AuditPosition
    /// The bytes of the part, including those of gaps in it.
    var bytes: Int64 = 0
    /// The end of what is vouched for, and the bytes up to there; nil if nothing is.
    var safe: (end: AuditPosition, bytes: Int64)?
    /// The bytes after that end, for which the unlocked vault does not vouch.
    var early: Int64 = 0
    /// The end of what the boot key vouches for after that, with the bytes up to there; nil if there is none.
    var marked: (end: AuditPosition, bytes: Int64, early: Int64)?
    /// The part without its last row; nil if that row is certain to be the one that was written.
    var shorter: Shorter?

    struct Shorter {
      let end: AuditPosition
      let bytes: Int64
      let safe: (end: AuditPosition, bytes: Int64)?
      let early: Int64
      let marked: (end: AuditPosition, bytes: Int64, early: Int64)?
    }

    /// True if the part has rows that are vouched for.
    var isSaved: Bool { safe != nil && !isEmpty }

    var isEmpty: Bool { end.row == start.row }

    /// Leaves out what the unlocked vault does not vouch for.
    mutating func shorten() {
      let safe = safe ?? (start, 0)
      cut(to: (safe.end, safe.bytes, 0))
      marked = nil
    }

    /// Leaves out what no key vouches for.
    mutating func shortenToMarked() {
      if let marked { cut(to: marked) } else { shorten() }
    }

    private mutating func cut(to place: (end: AuditPosition, bytes: Int64, early: Int64)) {
      if end.row != place.end.row { shorter = nil }
      (end, bytes, early) = place
    }

    /// The numbers of the entries for which the unlocked vault does not vouch; nil if there are none, or if nothing
    /// tells what their numbers are.
    var unvouched: ClosedRange<Int64>? {
      guard let safe, safe.end.entries < end.entries else { return nil }
      return safe.end.entries + 1...end.entries
    }

    /// Leaves out the last row before another part that begins with the next row and is vouched for, but states another
    /// link than that of the last row. So the last row is not the one that was written.
    mutating func shorten(before other: Part) {
      guard let shorter, end.row == other.start.row, end.link != other.start.link else { return }
      (end, bytes, safe, early) = (shorter.end, shorter.bytes, shorter.safe, shorter.early)
      marked = shorter.marked
      self.shorter = nil
    }

    /// True if the part can come after another one, as far as the numbers of both tell.
    func canFollow(_ other: Part) -> Bool {
      let (rows, entries) = (start.row - other.end.row, start.entries - other.end.entries)
      return rows > 0 && entries >= 0 && entries <= AuditGap.mostEntries(ofRows: rows)
    }
  }

  /// A key that vouches for a chain.
  private enum Voucher {
    /// The keys of the unlocked vault.
    case vault
    /// The boot key, which lies where the vault does.
    case bootKey
    /// None: anyone who has the disk can have written the chain.
    case none
  }

  private var parts: [Part]
  /// True if the next row can continue the last part.
  private var isOpen = true
  /// The last part before its last row.
  private var before: Part
  /// True if the last row is the beginning of a chain that no key of the vault vouches for.
  private var isAtBeginning = false
  /// The key that vouches for the last chain.
  private var voucher = Voucher.none
  /// The number of faults that the walk had found.
  private(set) var faults = 0
  /// The anchor so far: it counts the bytes from before first unlocks that are vouched for.
  private var anchor: AuditAnchor
  /// The anchor of the log; nil if it has none, or that is lost.
  private let known: AuditAnchor?
  /// False if the anchor is lost, so that nothing tells where the log begins.
  private let isBeginKnown: Bool

  /// - Parameters:
  ///   - walk: a walk over all of the log, at its beginning.
  ///   - known: the anchor of the log; nil if it has none, or another one than was stored last.
  init(_ walk: AuditWalk, _ known: AuditAnchor?) {
    isBeginKnown = walk.anchorProblem == nil
    before = Part(start: walk.start, end: walk.start, safe: isBeginKnown ? (walk.start, 0) : nil)
    parts = [before]
    (self.known, anchor) = (known, known ?? .beginning)
  }

  // MARK: The rows

  /// Meets the row that the walk has passed.
  mutating func meet(_ row: AuditRow, _ walk: AuditWalk, _ keychain: Keychain) {
    let isWhole = !walk.isBroken && walk.found == faults
    faults = walk.found
    let chain = row.isBeginning && !walk.isAside(row.row) ? try? Keychain.chain(row) : nil
    let isOurs = chain.map { $0.origin == .unlocked && keychain.isRight($0, row.row) } ?? false
    let mayBegin = chain.map { !walk.isBroken && (isOurs || Self.mayBegin($0, row.row, keychain)) } ?? false
    if !isWhole, !continues(chain, row.row, mayBegin: mayBegin) { close() }
    if let chain { voucher = isOurs ? .vault : voucher(of: chain, row.row, walk, keychain) }
    let gap = isOpen ? walk.gap(before: row.row) : nil
    if !isOpen {
      guard let chain, mayBegin else { return }
      begin(AuditPosition(before: chain, in: row.row))
    }
    if isOurs, let chain { vouch(chain, row.row) }
    add(Int64(row.bytes.count), after: gap, walk.position)
    isAtBeginning = chain != nil && !isOurs
    if isWhole, row.row == known?.joined.row {
      vouchForAll()
      parts[parts.count - 1].shorter = nil
      // The anchor vouches for the beginning of the chain, too, and so for its next records.
      if voucher == .none { voucher = .vault }
    }
  }

  /// The key that vouches for a chain that the unlocked vault did not begin.
  private func voucher(of chain: AuditChain, _ row: Int64, _ walk: AuditWalk, _ keychain: Keychain) -> Voucher {
    switch chain.origin {
    case .unlocked: .none
    case .cold: chain.mac != .none && keychain.isRight(chain, row) ? .bootKey : .none
    case .continued: walk.isDoubtful ? .none : voucher
    }
  }

  /// True if a chain of a vault that was not unlocked may begin a part: nobody without a key of the vault has changed
  /// it, or no key vouches for it. The chain that it continues may be lost.
  private static func mayBegin(_ chain: AuditChain, _ row: Int64, _ keychain: Keychain) -> Bool {
    switch chain.origin {
    case .unlocked: false
    case .cold: chain.mac == .none || keychain.isRight(chain, row)
    case .continued: true
    }
  }

  /// True if a chain continues the last part although the walk has found a fault there, such as an end of the log that
  /// was cut off before the chain.
  private func continues(_ chain: AuditChain?, _ row: Int64, mayBegin: Bool) -> Bool {
    guard isOpen, mayBegin, let chain, chain.origin != .continued else { return false }
    let end = parts[parts.count - 1].end
    return end.row + 1 == row && end.link == chain.previous && end.entries + 1 == chain.first
  }

  /// Ends the last part before a row that does not belong to it.
  private mutating func close() {
    // No record confirms the number that such a beginning states.
    if isOpen, isAtBeginning { parts[parts.count - 1] = before }
    (isOpen, voucher, isAtBeginning) = (false, .none, false)
  }

  private mutating func begin(_ start: AuditPosition) {
    if parts.count > 1, parts[parts.count - 1].safe == nil { parts.removeLast() }
    parts.append(Part(start: start, end: start))
    isOpen = true
  }

  private mutating func add(_ bytes: Int64, after gap: AuditGap?, _ end: AuditPosition) {
    before = parts[parts.count - 1]
    var part = before
    part.shorter = Part.Shorter(
      end: before.end, bytes: before.bytes, safe: before.safe, early: before.early, marked: before.marked)
    part.end = end
    part.bytes += bytes + (gap?.bytes ?? 0)
    switch voucher {
    case .vault: part.safe = (end, part.bytes)
    case .bootKey, .none: part.early += bytes
    }
    if voucher == .bootKey { part.marked = (end, part.bytes, part.early) }
    parts[parts.count - 1] = part
  }

  /// Notes that a chain of the unlocked vault vouches for what is before it.
  private mutating func vouch(_ chain: AuditChain, _ row: Int64) {
    // The known anchor counts what it covers. A lost one had counted what each unlock has found.
    if known == nil { anchor.age(to: chain.time) }
    if row > known?.joined.row ?? 0 { anchor.add(early: parts[parts.count - 1].early) }
    vouchForAll()
  }

  private mutating func vouchForAll() {
    let part = parts[parts.count - 1]
    parts[parts.count - 1].safe = (part.end, part.bytes)
    (parts[parts.count - 1].early, parts[parts.count - 1].marked) = (0, nil)
  }
}

// MARK: The result

extension AuditParts {
  /// The saved part of a log, and the losses.
  struct Saved {
    /// The anchor of the saved part, which covers all of it.
    let anchor: AuditAnchor
    /// The numbers of the entries between two saved parts; an empty range before the number of the next entry if only
    /// something without entries is lost.
    let lost: [Range<Int64>]
    /// The numbers of the entries that nothing vouches for and that are left out for lack of room.
    let leftOut: [ClosedRange<Int64>]
    /// The numbers, as they say, of the entries that are left out because no key vouches for them, although the vault
    /// had vouched for all entries there: somebody may have put them in the place of others.
    let unproven: [ClosedRange<Int64>]
    /// The numbers of the entries in such a place for which the boot key alone vouches.
    let marked: [ClosedRange<Int64>]
  }

  /// Returns the saved part after the end of the walk.
  ///
  /// - Parameter mostEarly: the most bytes of the log that were written before an unlock. If there are more, somebody
  ///   else has added them, and all that nothing vouches for is left out.
  mutating func saved(mostEarly: Int64) -> Saved {
    if known == nil { anchor.limit(early: mostEarly) }
    let vouched = parts.last(where: \.isSaved)?.start.row ?? 0
    // Without the anchor, nothing tells up to where the vault had vouched for all.
    let joined = isBeginKnown ? known?.joined.row ?? 0 : .max
    let proven = max(joined, vouched)
    let unproven = leaveOutUnproven(upTo: proven)
    var found = parts.filter { $0.isSaved && !$0.end.isTooFar }
    if isBeginKnown ? !parts[0].isSaved : found.isEmpty { found.insert(parts[0], at: 0) }
    let leftOut = Self.leaveOut(&found, beyond: mostEarly - anchor.early)
    let marked = found.filter { $0.end.row <= proven }.compactMap(\.unvouched)
    // Nothing vouches for the numbers at the beginning of such a log.
    if found[0].end.isTooFar || !isBeginKnown && found[0].isEmpty { found[0] = Part(start: .start, end: .start) }
    let kept = kept(found)
    let pairs = zip(kept, kept.dropFirst())
    let gaps = pairs.map { one, next in
      AuditGap(
        rows: one.end.row + 1...next.start.row, entries: next.start.entries - one.end.entries, link: one.end.link)
    }
    // A chain at the beginning that continues another one is vouched for by what comes after it, or not at all.
    if kept[0].safe.map({ $0.end.row == kept[0].start.row }) ?? true { anchor.isVouchedFor = false }
    var end = kept[kept.count - 1].end
    end.bytes = kept.reduce(kept[0].start.bytes) { $0 + $1.bytes } + gaps.reduce(0) { $0 + $1.bytes }
    anchor = anchor.part(from: kept[0].start, to: end, early: kept.reduce(0) { $0 + $1.early })
    anchor.aside.removeAll { rows in gaps.contains { $0.rows.overlaps(rows) } }
    anchor.gaps.removeAll { gap in gaps.contains { $0.rows.overlaps(gap.rows) } }
    anchor.gaps = (anchor.gaps + gaps).sorted { $0.rows.lowerBound < $1.rows.lowerBound }
    let lost = pairs.map { one, next in one.end.entries + 1..<next.start.entries + 1 }
    return Saved(anchor: anchor, lost: lost, leftOut: leftOut, unproven: unproven, marked: marked)
  }

  /// Leaves out what no key vouches for any more, up to the row up to which the vault had vouched for all.
  ///
  /// - Returns: the numbers of the entries that are left out.
  private mutating func leaveOutUnproven(upTo row: Int64) -> [ClosedRange<Int64>] {
    var unproven: [ClosedRange<Int64>] = []
    for index in parts.indices where parts[index].early > 0 && parts[index].end.row <= row {
      let last = parts[index].end.entries
      parts[index].shortenToMarked()
      let end = parts[index].end.entries
      if parts[index].safe != nil, end < last { unproven.append(end + 1...last) }
    }
    return unproven
  }

  /// Leaves out what nothing vouches for if it has more than `room` bytes.
  ///
  /// - Returns: the numbers of the entries that are left out, as far as the entries before them are vouched for.
  private static func leaveOut(_ found: inout [Part], beyond room: Int64) -> [ClosedRange<Int64>] {
    guard found.reduce(0, { $0 + $1.early }) > room else { return [] }
    var leftOut: [ClosedRange<Int64>] = []
    for index in found.indices where found[index].early > 0 {
      let (last, isKnown) = (found[index].end.entries, found[index].safe != nil)
      found[index].shorten()
      let first = found[index].end.entries + 1
      if isKnown, first <= last { leftOut.append(first...last) }
    }
    return leftOut
  }

  /// The parts whose numbers are in order, as many as the anchor has gaps for. The numbers of chains that the unlocked
  /// vault began count more than those of others.
  private func kept(_ found: [Part]) -> [Part] {
    let room = AuditAnchor.mostGaps - (known?.gaps.count ?? 0)
    var kept: [Part] = []
    for part in found {
      var others = kept
      guard var last = others.popLast() else {
        kept.append(part)
        continue
      }
      last.shorten(before: part)
      if !part.canFollow(last) { last.shorten() }
      // Two gaps need a row between them.
      if last.isEmpty, let other = others.popLast() { last = other }
      guard part.canFollow(last), others.count < room else { continue }
      kept = others + [last, part]
    }
    return kept
  }
}
