public import VaultCore
import VaultModel

// The end of a rekey: what waits is written, the rest is copied, and the second store takes the live one's place, all
// in one turn. So nothing that is sealed to the old keys is written once the new ones are there.
extension Rekey {
  /// Puts the second store in the place of the live one. The live keychain then is the new vault, unlocked.
  ///
  /// Call it only right after ``step(records:)`` was true; the rekey is over then.
  /// - Parameters:
  ///   - record: fills the record that the log of the new vault, and of no other, ends with: it is there as soon as the
  ///     second store has its place, whatever fails after that.
  ///   - now: its time, Unix seconds.
  /// - Throws: the reason why it cannot be done: the live keychain is as it was. When ``Keychain/isGone`` says so,
  ///   though, the files could not be opened again, and the keychain is of no more use.
  public func finish(
    recording record: (inout AuditBlock) -> Void = { _ in }, now: Int64 = 0
  ) throws(VaultError) {
    guard case .changed(isChecked: true) = stage, source.touched?.isEmpty == true, !source.hasFailed, !source.isGone
    else {
      throw .storage("the rekey is not at its end")
    }
    // Where that cannot be, on a full disk, the rekey is at its end as before.
    try source.settle()
    do throws(VaultError) {
      try findingFault { () throws(VaultError) in
        try target.transaction { () throws(VaultError) in
          for table in AssociatedData.Table.allCases { try copyRest(of: table) }
          var block = AuditBlock()
          record(&block)
          try target.addLastRecord(&block, now: now)
        }
        target.bound.audit?.haveWritten()
        try compareCounts()
        try source.takeOver(target, atStep)
      }
    } catch {
      target.bound.audit = nil
      startOver()
      throw error
    }
    source.touched = nil
  }

  /// Brings along what no step has brought of a table: all that can have changed to the last moment.
  ///
  /// The second store may have it already, of an end that came to nothing after this was committed: whatever is written
  /// here takes the place of what is there.
  private func copyRest(of table: AssociatedData.Table) throws(VaultError) {
    switch table {
    // Copied item by item; the stage before the end brings what changes meanwhile.
    case .heads, .values, .tags: break
    // Made with the second store, and fixed while a rekey is under way.
    case .keys, .slots: break
    case .hashes: raiseFacts()
    case .meta: try target.keepStale(of: source)
    case .grants:
      try target.copyGrants(of: source) { (_: AccessClass, error: VaultError) throws(VaultError) in throw error }
    case .deposits: try target.copyDeposits(of: source)
    case .audit: _ = try target.copyAudit(of: source, rows: .max)
    }
  }

  func raiseFacts() {
    for accessible in AccessClass.allCases {
      if let facts = source.facts[accessible] { target.raise(accessible, to: facts) }
    }
  }

  private func compareCounts() throws(VaultError) {
    guard source.knownItems == target.knownItems else {
      throw .secondStore("it has another number of items")
    }
    for accessible in AccessClass.allCases {
      let (old, new) = (try source.classRecord(accessible).sets, try target.classRecord(accessible).sets)
      for table in AssociatedData.Table.allCases where Self.keepsCount(table) {
        guard old[.init(table)].count != new[.init(table)].count else { continue }
        throw .secondStore("it has another number of records of class \(accessible.name)")
      }
    }
  }

  /// True when a table has as many records in the new vault as in the old one.
  private static func keepsCount(_ table: AssociatedData.Table) -> Bool {
    switch table {
    case .heads, .values, .tags, .grants: true
    // Other slots, one anchor, and deposits of which some are kept aside from now on.
    case .keys, .slots, .hashes, .meta, .audit, .deposits: false
    }
  }

  /// Checks that a second store has room beside the live one.
  ///
  /// - Throws: ``VaultError/storage(_:)`` unless it has.
  public static func checkRoom(for source: Keychain) throws(VaultError) {
    let needed = try source.database.size() + (8 << 20)
    let free = try source.database.freeSpace()
    guard free < needed else { return }
    throw .storage("a second store needs \(needed >> 20) MiB beside this one, and \(free >> 20) MiB are free")
  }
}
