/// The hashes over all records of one access class: one ``RecordSet`` for each table, or for each part of a small table
/// whose rows must be told apart. They are stored in a ``ClassRecord``.
public struct RecordSets: Hashable, Sendable {
  /// The records that one set covers.
  public struct Place: Hashable, Comparable, Sendable {
    public var table: AssociatedData.Table
    /// The part of the table; 0 if the table has one set.
    public var part: UInt32

    public init(_ table: AssociatedData.Table, part: UInt32 = 0) {
      self.table = table
      self.part = part
    }

    public static func < (a: Place, b: Place) -> Bool { (a.table.rawValue, a.part) < (b.table.rawValue, b.part) }
  }

  private var sets: [Place: RecordSet] = [:]

  /// Makes empty sets.
  public init() {}

  /// The set of the records at `place`.
  public subscript(place: Place) -> RecordSet {
    get { sets[place] ?? RecordSet() }
    set { sets[place] = newValue == RecordSet() ? nil : newValue }
  }

  /// The places that have records, in ascending order.
  public var places: [Place] { sets.keys.sorted() }

  /// True if no set has a record.
  public var isEmpty: Bool { sets.isEmpty }

  /// The number of records in all sets.
  public var count: Int64 { sets.values.reduce(0) { $0 &+ $1.count } }

  /// Applies a difference.
  public mutating func merge(_ other: RecordSets) {
    for (place, set) in other.sets { self[place].merge(set) }
  }
}
