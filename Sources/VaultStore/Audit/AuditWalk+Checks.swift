internal import VaultBytes
import VaultCore

// The checks of a walk over the audit log in addition to the checks of the records: who began each chain, and where
// each chain ended.
extension AuditWalk {
  /// The chain that is being read.
  struct Reading: ~Copyable {
    let chain: Int64
    /// The row whose record the next key opens.
    var next: Int64
    var key: AuditKey

    /// Advances over the keys of the rows before `row`; false when no chain is that long, or the keys are past that row
    /// already.
    mutating func skip(to row: Int64) -> Bool {
      guard row >= next, row - chain <= AuditWriting.mostRows else { return false }
      while next < row {
        key.withNextKey { _ in }
        next += 1
      }
      return true
    }

    /// The MAC of the end of the log, if this chain stands at the last record; nil otherwise.
    mutating func mac(of end: AuditPosition, _ vault: VaultID) -> RecordMark? {
      next == end.row + 1 ? AuditEnd(end, chain: chain).mac(vault, key: &key) : nil
    }

    /// Opens a record of the chain. The keys of missing rows are skipped.
    mutating func open(_ row: AuditRow, _ vault: VaultID, into plaintext: Scratch) throws(CryptoError) {
      guard row.chain == chain, skip(to: row.row) else { throw .authenticationFailed }
      next += 1
      let place = AuditChain.place(row.row, chain: chain, vault)
      try key.withNextKey { (key: borrowing SecureBytes) throws(CryptoError) in
        try row.bytes.withSpan { (sealed: RawSpan) throws(CryptoError) in
          try plaintext.open(sealed, key: key, associatedData: place)
        }
      }
    }
  }

  // MARK: Chains

  /// Checks that a chain begins exactly where the chain before it ended, if it was begun after the part of the log that
  /// the anchor covers.
  func checkEnd(before chain: AuditChain, _ row: Int64, _ before: inout Reading?, _ vault: VaultID) {
    // If something is missing or was changed, another fault reports it, and this check has nothing to go by.
    guard !isBroken, faults.isEmpty, anchorProblem == nil, row > joined.row, row - 1 > gone, !isAside(row - 1),
      gap(before: row) == nil
    else { return }
    let isRight = before != nil && before!.mac(of: position, vault) == chain.ended
    if !isRight { add(chain.first, nil, "the end of the log before entry \(chain.first) was cut off") }
  }

  /// Checks who began a chain; false if it was somebody else.
  func check(
    _ chain: AuditChain, _ row: Int64, _ before: inout Reading?, isFirst: Bool, _ keychain: Keychain
  ) -> Bool {
    let isRight: Bool
    switch chain.origin {
    case .unlocked: isRight = keychain.isRight(chain, row)
    case .cold: isRight = chain.mac == .none || keychain.isRight(chain, row)
    case .continued where before != nil:
      isRight = before!.skip(to: row) && chain.mac == chain.mac(row, keychain.vault, after: &before!.key)
    // After a chain that was removed or cannot be read, this cannot be checked.
    case .continued: isRight = !isFirst || row <= joined.row || row - 1 <= gone || gap(before: row) != nil
    }
    if !isRight { add(chain.first, nil, "the entries from \(chain.first) on were begun by somebody else") }
    return isRight
  }

  // MARK: Chains that were set aside

  func isAside(_ row: Int64) -> Bool { aside.contains { $0.contains(row) } }

  /// Passes a row that was set aside. Its content is not read, and the links continue over it.
  func passAside(_ row: AuditRow) {
    reading = nil
    // The row that was set aside was another one.
    if !row.isReadable { isBroken = true }
    if isBroken {
      position.row = row.row
      return
    }
    var bounds = asideBounds ?? AuditBounds(position)
    if row.isBeginning, let chain = try? Keychain.chain(row) {
      if chain.previous != position.link {
        add(
          position.entries, position.entries, "the log up to entry \(position.entries) does not match what was written")
      }
      if bounds.take(chain.first - 1) { position.entries = chain.first - 1 }
      position.pass(chain)
    } else {
      bounds.pass(record: row.bytes.count)
      position.pass(row.bytes, entries: 0)
    }
    asideBounds = bounds
    if !noted.isEmpty { asideLinks.insert(position.link) }
  }

  /// Reports that a rekey left chains sealed to the old keys, in place of the faults that these chains look like.
  private func nameRemains(_ keychain: Keychain) {
    for remains in (try? keychain.auditRemains().found) ?? [] {
      let entries = remains.entries
      faults.removeAll { fault in
        guard let first = fault.first, entries.contains(first) else { return false }
        return fault.last.map(entries.contains) ?? true
      }
      faults.append(Fault(remains))
    }
  }

  // MARK: Links noted elsewhere

  /// Compares the links noted for the last entry with the link at the walk's position.
  ///
  /// A link may have been noted at the end of the entry's record, or at the beginning of a chain after that record. So
  /// a link that differs is no fault before the next entry.
  func compareNoted() {
    let entry = position.entries
    if noted[entry] == position.link { noted[entry] = nil }
    others[entry]?.remove(position.link)
    if noted[entry] == nil, others[entry]?.isEmpty == true { agreed.insert(entry) }
  }

  /// Reports the link noted for the last entry, before the next one, if none of the log's links was the same.
  func judgeNoted() {
    let entry = position.entries
    guard entry > removed, let link = noted[entry], !asideLinks.contains(link) else { return }
    noted[entry] = nil
    addNoted(entry)
  }

  private func addNoted(_ entry: Int64) {
    add(nil, nil, "the link noted elsewhere for entry \(entry) does not match the log")
  }

  // MARK: Gaps

  func gap(before row: Int64) -> AuditGap? { gaps.first { $0.rows.upperBound == row - 1 } }

  /// The row before `row` that is not in a gap.
  func rowBefore(_ row: Int64) -> Int64 { gap(before: row).map { $0.rows.lowerBound - 1 } ?? row - 1 }

  /// Passes the gap that lies between the walk's position and a chain; false if there is none. Chains from before an
  /// unlock were removed there, and the chain after the gap may continue one of them.
  func passGap(before row: AuditRow) -> Bool {
    guard !isBroken, let gap = gap(before: row.row), gap.rows.lowerBound == position.row + 1, row.isBeginning,
      let chain = try? Keychain.chain(row)
    else { return false }
    if gap.link != position.link {
      add(position.entries, position.entries, "the log up to entry \(position.entries) does not match what was written")
    }
    // Nobody has vouched for the entries in the gap, so they cannot stand for those of a note: somebody may have put
    // an older store back, and added as many entries. A link noted for the entry before the gap may be that of a chain
    // in the gap that has no entries.
    for entry in noted.keys.sorted() where entry >= position.entries && entry < chain.first && entry > removed {
      (noted[entry], others[entry]) = (nil, nil)
      add(nil, nil, "the link noted elsewhere for entry \(entry) is about entries that were removed at an unlock")
    }
    reading = nil
    position.pass(gap, before: chain)
    (isEarly, isVouchedFor) = (true, false)
    return true
  }

  // MARK: The end

  func conclude(_ keychain: Keychain) {
    settleDoubt()
    if let anchorProblem { add(nil, nil, anchorProblem) }
    if !isOvertaken { checkEnd(keychain) }
    // A noted link that the walk did not meet is a fault, because each link was noted at the end of a record or at the
    // beginning of a chain. A link about entries that were removed since is no fault: nobody can compare it.
    for (entry, link) in noted.sorted(by: { $0.key < $1.key }) where entry > 0 {
      if entry <= removed { uncompared += 1 } else if !asideLinks.contains(link) { addNoted(entry) }
    }
    if !faults.isEmpty { nameRemains(keychain) }
    reading = nil
  }

  private func checkEnd(_ keychain: Keychain) {
    let last = lastEntry
    if position.entries < last {
      add(position.entries + 1, last, "missing, or not what was written", isRange: true)
    } else if position.row < joined.row {
      add(nil, joined.entries, "the entries up to \(joined.entries) are not those that were written")
    } else if isBroken || position.row < end.row {
      add(position.entries + 1, position.entries + 1, "missing, or not what was written", isRange: true)
    } else if isEndLost {
      add(nil, nil, "the end of the audit log cannot be read")
    } else if isEndFalse {
      // Rows behind the end are reported below.
      if end.row < joined.row { add(nil, nil, "the end of the audit log is not what was written last") }
    } else if position.link != end.link || anchorProblem == nil && position.bytes != end.bytes {
      // A process that found a false number of bytes has continued to count from there, and a cut would trust the
      // count. Without the anchor, the number is not known.
      add(nil, nil, "the end of the audit log is not what was written last")
    } else if let foundEnd, anchorProblem == nil, position.row > gone {
      // Only the MAC under the key of the process that wrote the end shows that nothing was cut off.
      let mac = reading != nil ? reading!.mac(of: foundEnd.position, keychain.vault) : nil
      let isRight = foundEnd.mac == mac && foundEnd.chain == reading?.chain
      if !isRight { add(nil, nil, "the end of the audit log was written by somebody else") }
    }
    if let first = (try? keychain.database.firstAuditRow()) ?? nil, first <= cut.row {
      add(nil, nil, "somebody else has written before entry \(cut.entries + 1)")
    }
    let lastRow = (try? keychain.database.lastAuditRow()) ?? 0
    // A tally after the end is this process's own.
    let written = keychain.standingAudit ?? keychain.writtenAuditEnd?.row ?? end.row
    if lastRow > written, !isEndLost, end.row >= joined.row {
      add(end.entries + 1, nil, "somebody else has written after entry \(end.entries)")
    }
  }
}
