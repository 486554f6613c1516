public import VaultCore
import VaultModel

// The end of a rekey. In one turn, waiting records are written, the rest is copied, and the second store takes the live
// store's place. So nothing that is sealed to the old keys is written after the new keys are taken.
extension Rekey {
  /// Puts the second store in the place of the live one. The live keychain is then the new vault, unlocked.
  ///
  /// Call this only right after ``step(records:)`` returned true. The rekey is over then.
  /// - Parameters:
  ///   - record: fills the last record of the new vault's log. The old vault's log never has this record. The record is
  ///     there as soon as the second store has its place, whatever fails after that.
  ///   - now: the time of that record, Unix seconds.
  /// - Throws: the reason why the end failed. The live keychain is then as it was, unless ``Keychain/isGone`` is true:
  ///   then the files could not be opened again, and the keychain cannot be used any more.
  public func finish(
    recording record: (inout AuditBlock) -> Void = { _ in }, now: Int64 = 0
  ) throws(VaultError) {
    guard case .changed(isChecked: true) = stage, source.countOfTouched == 0, !source.hasFailed, !source.isGone else {
      throw .storage("the rekey is not finished")
    }
    // If this fails, for example on a full disk, the rekey stays as it is, and this method can be called again.
    try source.settle()
    do throws(VaultError) {
      try findingFault { () throws(VaultError) in
        try target.transaction { () throws(VaultError) in
          for table in AssociatedData.Table.allCases { try copyRest(of: table) }
          var block = AuditBlock()
          record(&block)
          try target.addLastRecord(&block, now: now)
        }
        target.bound.audit?.haveWritten(target.vault)
        try compareCounts()
        try source.takeOver(target, atStep)
      }
    } catch {
      target.bound.audit = nil
      startOver()
      throw error
    }
    source.forgetTouched()
  }

  /// Copies the part of a table that no step has copied: everything that can have changed up to the last moment.
  ///
  /// The second store may have this part already, if an earlier call of ``finish(recording:now:)`` failed after this
  /// was committed. Whatever is written here replaces it.
  private func copyRest(of table: AssociatedData.Table) throws(VaultError) {
    switch table {
    // These tables are copied item by item; the stage before the end copies what changes meanwhile.
    case .heads, .values, .tags: break
    // So are the deposits and the grants, row by row.
    case .deposits: try deposits?.checkWhole()
    case .grants: try grants?.checkWhole()
    // These tables were made with the second store, and cannot change during a rekey.
    case .keys, .slots: break
    case .hashes: raiseFacts()
    case .meta: try target.keepStale(of: source)
    case .audit: _ = try target.copyAudit(of: source, rows: .max, nil)
    }
  }

  func raiseFacts() {
    for accessible in AccessClass.allCases {
      if let facts = source.facts[accessible] { target.raise(accessible, to: facts) }
    }
  }

  private func compareCounts() throws(VaultError) {
    guard source.knownItems == target.knownItems else {
      throw .secondStore("it has a different number of items")
    }
    for accessible in AccessClass.allCases {
      let (old, new) = (try source.classRecord(accessible).sets, try target.classRecord(accessible).sets)
      for table in AssociatedData.Table.allCases where Self.keepsCount(table) {
        guard old[.init(table)].count != new[.init(table)].count else { continue }
        throw .secondStore("it has a different number of records of class \(accessible.name)")
      }
    }
  }

  /// True when a table has as many records in the new vault as in the old one.
  private static func keepsCount(_ table: AssociatedData.Table) -> Bool {
    switch table {
    case .heads, .values, .tags, .grants, .deposits: true
    // The new vault has other slots, and one anchor.
    case .keys, .slots, .hashes, .meta, .audit: false
    }
  }

  /// Checks that there is room for a second store beside the live one.
  ///
  /// - Throws: ``VaultError/storage(_:)`` if there is not.
  public static func checkRoom(for source: Keychain) throws(VaultError) {
    let needed = try source.database.size() + (8 << 20)
    let free = try source.database.freeSpace()
    guard free < needed else { return }
    throw .storage("a second store needs \(needed >> 20) MiB beside this one, and \(free >> 20) MiB are free")
  }
}
