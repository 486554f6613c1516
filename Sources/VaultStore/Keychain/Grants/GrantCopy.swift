import VaultCore
import VaultModel

/// The copying of grants into the second store of a rekey, in steps. Each grant is sealed anew under the keys of that
/// store.
///
/// ``Keychain/touchedGrants`` has the numbers of rows that are written or removed in the live store meanwhile, even of
/// rows that the walk has not reached yet. Each is passed to ``bring(_:_:)``, and none is left at the end. Rows keep
/// their numbers, so the grants keep their order.
final class GrantCopy {
  private let source: Keychain
  private let target: Keychain
  /// True once the second store has no rows of an earlier attempt any more.
  var isCleared = false
  /// The place that the walk over the live rows has reached, and whether that is its end.
  private var place = Database.RowPlace()
  private var isWalkOver = false
  /// The marks of the live rows as they were when they were copied, and the hashes over these.
  private var marks: [Int64: (accessible: AccessClass, mark: RecordMark)] = [:]
  private var found = ByClass<RecordSet>(repeating: RecordSet())
  private let plaintext = Scratch()

  init(from source: Keychain, to target: Keychain) {
    (self.source, self.target) = (source, target)
    source.touchedGrants = []
  }

  /// Copies the next live rows, at most `records`; true at the end. The second store needs an open transaction.
  ///
  /// - Parameter written: the records and bytes written so far; those of this step are added.
  func walk(_ records: Int, _ written: inout Rekey.Written) throws(VaultError) -> Bool {
    if isWalkOver { return true }
    defer { plaintext.wipe() }
    var left = records
    try source.database.eachGrant(from: &place) { (read: Result<GrantRow, VaultError>) throws(VaultError) in
      // A row that cannot be read counts towards no hash. If it was a grant before, the hashes differ at the end.
      if case .success(let row) = read { try put(row, &written) }
      left -= 1
      return left > 0
    }
    isWalkOver = left > 0
    return isWalkOver
  }

  /// Makes the row with this number in the second store match the live store's row. The second store needs an open
  /// transaction.
  func bring(_ number: Int64, _ written: inout Rekey.Written) throws(VaultError) {
    defer { plaintext.wipe() }
    if let (accessible, mark) = marks.removeValue(forKey: number) {
      found[accessible].remove(mark)
      guard let old = try target.database.grant(number) else { throw .secondStore("a grant is not where it was") }
      try target.remove(old)
      written.records += 1
    }
    if let row = try source.database.grant(number) { try put(row, &written) }
  }

  private func put(_ row: GrantRow, _ written: inout Rekey.Written) throws(VaultError) {
    guard let record = try source.open([row], of: row.accessible, plaintext).first else {
      throw Keychain.sealedGrant(of: row.accessible)
    }
    try target.insert(record, row.accessible, row: row.row)
    let mark = try source.mark(row)
    marks[row.row] = (row.accessible, mark)
    found[row.accessible].insert(mark)
    written.records += 1
    written.bytes += row.sealed.count
  }

  /// Checks that the second store has all grants of the live store, exactly as they were stored last.
  func checkWhole() throws(VaultError) {
    guard isWalkOver, source.touchedGrants?.isEmpty == true else { throw .storage("the rekey is not finished") }
    for accessible in AccessClass.allCases {
      guard try source.grantSet(of: accessible) == found[accessible] else {
        throw Keychain.otherGrants(of: accessible)
      }
    }
  }
}
