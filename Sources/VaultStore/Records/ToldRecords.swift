import VaultCore
import VaultModel

/// The difference between the values and tags of each class that exist and those that its heads name: nothing, in a
/// store that is whole.
///
/// The hashes of a class match whatever was written by somebody who has its key. Comparing, under that key, what
/// heads name with what exists would not do either: an exclusive or is linear, so that rows can be chosen whose marks
/// make up for any others. Each mark is therefore marked again under a key that is drawn anew for each check, for
/// which nobody can have made rows. The strongest class is left out, because its hashes show enough: whoever has its
/// key has all of them.
struct ToldRecords {
  private final class Key { let bytes = RandomBytes.secret(count: 32) }

  private let key = Key()
  private var differences = ByClass<RecordSet>(repeating: RecordSet())

  /// True when the records of a class are compared.
  static func covers(_ accessible: AccessClass) -> Bool { accessible != AccessClass.strongestFirst[0] }

  /// True when the values and tags of a class are those that its heads name.
  func agree(_ accessible: AccessClass) -> Bool { differences[accessible] == RecordSet() }

  /// Takes in a value or tag of the item in `row` that its head names. No head names one twice.
  mutating func tell(_ mark: RecordMark, row: Int64, _ accessible: AccessClass) {
    guard Self.covers(accessible) else { return }
    differences[accessible].remove(again(mark, row))
  }

  /// Takes in a value or tag of the item in `row` that exists.
  mutating func meet(_ mark: RecordMark, row: Int64, _ accessible: AccessClass) {
    guard Self.covers(accessible) else { return }
    differences[accessible].insert(again(mark, row))
  }

  /// Takes a change into account: on the side of the heads, on that of the records, or on both.
  mutating func apply(_ change: RecordChanges.Change, isTold: Bool, isMet: Bool) {
    // A change on both sides makes no difference.
    guard isTold != isMet, let row = change.key.row else { return }
    switch change.kind {
    case .insert where isMet, .remove where isTold: meet(change.mark, row: row, change.accessible)
    case .insert, .remove: tell(change.mark, row: row, change.accessible)
    }
  }

  /// Marks a mark again, together with its row: items that were copied into other rows have values with the same marks,
  /// which would cancel each other out.
  private func again(_ mark: RecordMark, _ row: Int64) -> RecordMark { RecordMark(mark, row: row, key: key.bytes) }
}
