import VaultCore
import VaultModel

/// The saving of the grants of a damaged store into another store that has the same keys and no grants, in steps.
///
/// Grants of a class whose records are not those that were stored last are left out. If the store is not damaged,
/// ``Keychain/salvaged`` has the numbers of rows that are written or removed meanwhile. All of these rows are copied
/// again before the classes are judged.
final class GrantSalvage {
  /// A row that was copied.
  private struct Copied {
    let accessible: AccessClass
    let mark: RecordMark
    let opens: Bool
    /// The number that the row has in the other store.
    let number: Int64
  }

  private let source: Keychain
  private let target: Keychain
  private var place = Database.RowPlace()
  private var isWalkOver = false
  /// The reason why no more rows were read; nil when all were read.
  private var problem: VaultError?
  /// The copied rows by their numbers in the source, and the hashes over them.
  private var copied: [Int64: Copied] = [:]
  private var found = ByClass<RecordSet>(repeating: RecordSet())
  /// The numbers of the copied rows that must be removed again; nil until that is decided.
  private var wrong: [Int64]?
  private let plaintext = Scratch()

  init(from source: Keychain, to target: Keychain) { (self.source, self.target) = (source, target) }

  /// Continues for about as long as `left` items take; true at the end. The other store needs an open transaction.
  ///
  /// - Parameter lose: called with each loss.
  func step(_ left: inout Int, lose: (Finding) -> Void) throws(VaultError) -> Bool {
    defer { plaintext.wipe() }
    if wrong == nil {
      guard try walk(&left), try bring(&left) else { return false }
      judge(lose)
    }
    while let number = wrong?.last {
      guard left > 0 else { return false }
      wrong?.removeLast()
      if let row = try target.database.grant(number) { try target.remove(row) }
      left -= 1
    }
    return true
  }

  /// Copies the next rows; true at the end.
  private func walk(_ left: inout Int) throws(VaultError) -> Bool {
    if isWalkOver { return true }
    guard left > 0 else { return false }
    var rows: [GrantRow] = []
    do throws(VaultError) {
      try source.database.eachGrant(from: &place) { (read: Result<GrantRow, VaultError>) throws(VaultError) in
        // A row that cannot be read counts towards no hash. If it was a grant before, the hashes differ.
        if case .success(let row) = read { rows.append(row) }
        left -= 1
        return left > 0
      }
    } catch {
      guard case .corrupt = error else { throw error }
      problem = error
    }
    for row in rows { try put(row) }
    isWalkOver = problem != nil || left > 0
    return isWalkOver
  }

  /// Copies again the rows that have changed in the source; true when none is left.
  private func bring(_ left: inout Int) throws(VaultError) -> Bool {
    while left > 0, let number = source.salvaged?.grants.popFirst() {
      left -= 1
      if let old = copied.removeValue(forKey: number) {
        found[old.accessible].remove(old.mark)
        if let row = try target.database.grant(old.number) { try target.remove(row) }
      }
      if let row = try source.database.grant(number) { try put(row) }
    }
    return source.salvaged?.grants.isEmpty ?? true
  }

  private func put(_ row: GrantRow) throws(VaultError) {
    let mark = try source.mark(row)
    found[row.accessible].insert(mark)
    copied[row.row] = Copied(
      accessible: row.accessible, mark: mark, opens: try !source.open([row], of: row.accessible, plaintext).isEmpty,
      number: try target.insert(row))
  }

  /// Decides which classes have the records that were stored last.
  private func judge(_ lose: (Finding) -> Void) {
    wrong = []
    for accessible in AccessClass.allCases {
      let own = copied.values.filter { $0.accessible == accessible }
      let stored = (try? source.classRecord(accessible))?.grants
      // If there are no records and the class record names none, nothing is lost.
      if problem == nil, own.isEmpty, stored ?? RecordSet() == RecordSet() { continue }
      if problem == nil, stored == found[accessible], own.allSatisfy(\.opens) { continue }
      wrong? += own.map(\.number)
      var reason = "they are not those that were stored last"
      if case .corrupt(let text) = problem, problem == Database.tooManyGrants { reason = text }
      source.notice(Keychain.otherGrants(of: accessible))
      lose(Finding(.damaged, "the grants for items of class \(accessible.name) are lost: \(reason)"))
    }
  }
}
