import VaultCore
import VaultModel

/// The saving of the grants of a damaged store into another store that has the same keys and no grants, in steps.
///
/// Grants of a class whose records are not those that were stored last are left out.
final class GrantSalvage {
  /// The number of rows in a step, each of which takes less time than an item.
  private static let rowsOfStep = 32

  private let source: Keychain
  private let target: Keychain
  /// The walk over the rows; nil at its end.
  private var walk: GrantWalk?
  /// The sets of the grants that were stored last when the walk began.
  private let stored: ByClass<RecordSet>
  /// The records that are saved, and how many of them are written.
  private var records: [(record: GrantRecord, accessible: AccessClass)] = []
  private var written = 0

  init(from source: Keychain, to target: Keychain) {
    (self.source, self.target) = (source, target)
    walk = GrantWalk(source, AccessClass.allCases)
    stored = Self.stored(source)
  }

  private static func stored(_ source: Keychain) -> ByClass<RecordSet> {
    var sets = ByClass(repeating: RecordSet())
    for accessible in AccessClass.allCases {
      sets[accessible] = (try? source.classRecord(accessible))?.grants ?? RecordSet()
    }
    return sets
  }

  /// Continues for about as long as `left` items take; true at the end. The other store needs an open transaction.
  ///
  /// - Parameter lose: called with each loss.
  func step(_ left: inout Int, lose: (Finding) -> Void) throws(VaultError) -> Bool {
    while let walk {
      guard left > 0 else { return false }
      left -= 1
      guard walk.step(source, isTimeUp: { true }) else { continue }
      self.walk = nil
      // Grants that somebody has changed meanwhile, in a store that is not damaged, are read again at once.
      let now = Self.stored(source)
      let isSame = AccessClass.allCases.allSatisfy { now[$0] == stored[$0] }
      try judge(isSame ? walk.found : source.readGrants(of: AccessClass.allCases), lose)
    }
    while left > 0 {
      for _ in 0..<Self.rowsOfStep {
        guard written < records.count else { return true }
        try target.insert(records[written].record, records[written].accessible)
        written += 1
      }
      left -= 1
    }
    return false
  }

  /// Chooses the records that are saved.
  private func judge(_ read: [AccessClass: ReadGrants], _ lose: (Finding) -> Void) throws(VaultError) {
    for accessible in AccessClass.allCases {
      // If there are no records and the class record names none, nothing is lost.
      let stored = (try? source.classRecord(accessible))?.grants ?? RecordSet()
      if let read = read[accessible], read.isEmpty, stored == RecordSet() { continue }
      do throws(VaultError) {
        records += try source.grants(of: accessible, among: read).map { ($0, accessible) }
      } catch .corrupt(let reason) {
        let isTooMany = VaultError.corrupt(reason) == Database.tooManyGrants
        let reason = isTooMany ? reason : "they are not those that were stored last"
        lose(Finding(.damaged, "the grants for items of class \(accessible.name) are lost: \(reason)"))
      }
    }
  }
}
