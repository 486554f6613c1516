import VaultCore
import VaultModel

/// The place of a record in its table, in the order in which a check walks over the table.
enum RecordKey: Equatable {
  /// The row of a head, or of the current value beside it.
  case head(Int64)
  /// The row of an older value.
  case value(row: Int64, version: Int64)
  case tag(Tag, row: Int64)
  /// The row of a deposit.
  case deposit(Int64)
  /// The row of a grant.
  case grant(Int64)
  /// A row of a table with few rows, which a check reads in one step.
  case single

  /// The row of the item that the record belongs to; nil for a record that belongs to none.
  var row: Int64? {
    switch self {
    case .head(let row), .value(let row, _), .tag(_, let row): row
    case .deposit, .grant, .single: nil
    }
  }
}

/// The changes that a transaction has made so far, as differences from the stored hashes.
struct RecordChanges {
  enum Kind {
    case insert, remove

    /// The change that undoes a change of this kind.
    var reverse: Kind {
      switch self {
      case .insert: .remove
      case .remove: .insert
      }
    }

    /// Makes a change of this kind in a set.
    func apply(_ mark: RecordMark, to set: inout RecordSet) {
      switch self {
      case .insert: set.insert(mark)
      case .remove: set.remove(mark)
      }
    }
  }

  struct Change {
    let kind: Kind
    let accessible: AccessClass
    let place: RecordSets.Place
    let key: RecordKey
    let mark: RecordMark

    /// Applies the change to a set that the record counts in.
    func apply(to set: inout RecordSet) { kind.apply(mark, to: &set) }
  }

  /// The differences of each class's sets from the stored sets.
  private(set) var differences = ByClass<RecordSets>(repeating: RecordSets())
  /// The single changes, in order. They are kept only during a check or a rekey, which must know the place of each
  /// change.
  private(set) var list: [Change] = []
  /// The numbers of the deposits whose rows were written or removed.
  var deposits: Set<Int64> = []
  /// The changes to the known content of the table of deposits, in order; nil if they cannot be undone in memory.
  var depositChanges: [DepositChange]? = []
  /// The highest deposit number that counted as given before this transaction; nil if the transaction gave no number.
  var lastDeposit: Int64?
  /// The items that were put into the trash, while searches there are under way.
  var deletions: [TrashSearch.NamedDeletion] = []
  /// The numbers of the grants whose rows were written or removed.
  var grants: Set<Int64> = []
  private let isListing: Bool

  init(isListing: Bool) { self.isListing = isListing }

  mutating func append(_ change: Change) {
    change.apply(to: &differences[change.accessible][change.place])
    if isListing { list.append(change) }
  }

  /// Empties a set: removes the stored records of the set and the changes made to it since.
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
