import VaultCore
import VaultModel

/// The place of a record in its table, in the order in which a check walks over it.
enum RecordKey: Equatable {
  /// The row of a head, or of the current value beside it.
  case head(Int64)
  /// An older value.
  case value(row: Int64, version: Int64)
  case tag(Tag, row: Int64)
  /// A row of a table with few rows, which a check reads in one go.
  case single

  /// The row of the item that the record belongs to; nil in a table with few rows.
  var row: Int64? {
    switch self {
    case .head(let row), .value(let row, _), .tag(_, let row): row
    case .single: nil
    }
  }
}

/// The changes that a transaction has made so far, as differences from the stored hashes.
struct RecordChanges {
  enum Kind { case insert, remove }

  struct Change {
    let kind: Kind
    let accessible: AccessClass
    let place: RecordSets.Place
    let key: RecordKey
    let mark: RecordMark

    /// Applies the change to a set that the record counts towards.
    func apply(to set: inout RecordSet) {
      switch kind {
      case .insert: set.insert(mark)
      case .remove: set.remove(mark)
      }
    }
  }

  /// The differences of each class's sets from the stored ones.
  private(set) var differences = ByClass<RecordSets>(repeating: RecordSets())
  /// The single changes; kept only during a check or a rekey, which has to know where each of them was.
  private(set) var list: [Change] = []
  private let isListing: Bool

  init(isListing: Bool) { self.isListing = isListing }

  mutating func append(_ change: Change) {
    change.apply(to: &differences[change.accessible][change.place])
    if isListing { list.append(change) }
  }

  /// Empties a set: takes out what is stored of it and what was changed since.
  mutating func clear(_ place: RecordSets.Place, _ accessible: AccessClass, stored: RecordSet) {
    differences[accessible][place] = stored.emptied
  }
}

/// A value for each access class.
struct ByClass<Content> {
  private var whenUnlocked, afterFirstUnlock, always: Content

  init(repeating content: Content) { (whenUnlocked, afterFirstUnlock, always) = (content, content, content) }

  subscript(accessible: AccessClass) -> Content {
    get {
      switch accessible {
      case .whenUnlocked: whenUnlocked
      case .afterFirstUnlock: afterFirstUnlock
      case .always: always
      }
    }
    _modify {
      switch accessible {
      case .whenUnlocked: yield &whenUnlocked
      case .afterFirstUnlock: yield &afterFirstUnlock
      case .always: yield &always
      }
    }
  }
}
