import VaultCore
import VaultModel

/// The difference, for each class, between the values and tags that exist and those that the class's heads name. In an
/// intact store there is no difference.
///
/// Somebody who has the key of a class can make the hashes of that class match whatever rows they write. Comparing,
/// under that key, the records that heads name with the records that exist would not help either: an exclusive or is
/// linear, so rows can be chosen whose marks make up for any others. Each mark is therefore marked again under a key
/// that is drawn anew for each check, so that nobody can have prepared rows for it. The strongest class is left out,
/// because its hashes prove enough: whoever has its key has all keys.
struct ToldRecords {
  private final class Key { let bytes = RandomBytes.secret(count: 32) }

  private let key = Key()
  private var differences = ByClass<RecordSet>(repeating: RecordSet())

  /// True when the records of this class are compared.
  static func covers(_ accessible: AccessClass) -> Bool { accessible != AccessClass.strongestFirst[0] }

  /// True when the values and tags of a class that exist are those that its heads name.
  func agree(_ accessible: AccessClass) -> Bool { differences[accessible] == RecordSet() }

  /// Counts a value or tag that the head of the item in `row` names. No head names the same record twice.
  mutating func tell(_ mark: RecordMark, row: Int64, _ accessible: AccessClass) {
    guard Self.covers(accessible) else { return }
    differences[accessible].remove(again(mark, row))
  }

  /// Counts a value or tag of the item in `row` that exists.
  mutating func meet(_ mark: RecordMark, row: Int64, _ accessible: AccessClass) {
    guard Self.covers(accessible) else { return }
    differences[accessible].insert(again(mark, row))
  }

  /// Counts a change: on the side of the heads, on the side of the existing records, or on both.
  mutating func apply(_ change: RecordChanges.Change, isTold: Bool, isMet: Bool) {
    // A change on both sides makes no difference.
    guard isTold != isMet, let row = change.key.row else { return }
    switch change.kind {
    case .insert where isMet, .remove where isTold: meet(change.mark, row: row, change.accessible)
    case .insert, .remove: tell(change.mark, row: row, change.accessible)
    }
  }

  /// Marks a mark again, together with its row. Items that were copied into other rows have values with the same marks,
  /// which would otherwise cancel each other out.
  private func again(_ mark: RecordMark, _ row: Int64) -> RecordMark { RecordMark(mark, row: row, key: key.bytes) }
}
