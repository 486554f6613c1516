import VaultCore
import VaultModel

/// Where a record stands in its table, in the order in which a check walks over it.
enum RecordKey: Equatable {
  /// The row of a head, or of the current value beside it.
  case head(Int64)
  /// An older value.
  case value(row: Int64, version: Int64)
  case tag(Tag, row: Int64)
  /// In a table of a few rows, which a check looks at in one go.
  case single

  /// The row of the item whose record it is.
  var row: Int64? {
    switch self {
    case .head(let row), .value(let row, _), .tag(_, let row): row
    case .single: nil
    }
  }
}

/// What a transaction has changed so far, as differences to the stored hashes.
struct RecordChanges {
  enum Kind { case insert, remove }

  struct Change {
    let kind: Kind
    let accessible: AccessClass
    let place: RecordSets.Place
    let key: RecordKey
    let mark: RecordMark

    /// Makes it in a set that the record counts to.
    func apply(to set: inout RecordSet) {
      switch kind {
      case .insert: set.insert(mark)
      case .remove: set.remove(mark)
      }
    }
  }

  /// The difference of each class's sets.
  private(set) var differences = ByClass<RecordSets>(repeating: RecordSets())
  /// Each change by itself; only while a check is under way, which has to know where it was.
  private(set) var list: [Change] = []
  private let isListing: Bool

  init(isListing: Bool) { self.isListing = isListing }

  mutating func append(_ change: Change) {
    change.apply(to: &differences[change.accessible][change.place])
    if isListing { list.append(change) }
  }

  /// Takes out of a set what is stored of it and what was changed since.
  mutating func clear(_ place: RecordSets.Place, _ accessible: AccessClass, stored: RecordSet) {
    differences[accessible][place] = stored.emptied
  }
}

/// One of something for each access class.
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
