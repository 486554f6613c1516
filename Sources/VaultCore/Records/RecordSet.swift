/// A hash over a set of records that can be updated record by record, in any order: MSet-XOR-Hash (Clarke, Devadas, van
/// Dijk, Gassend, Suh: Incremental Multiset Hash Functions and Their Application to Memory Integrity Checking, 2003).
///
/// The hash is the exclusive or of the records' marks, and the number of records. No two records of a store have the
/// same place, so the records written form a set. The number reveals a record that was put in twice, which the
/// exclusive or alone would not. Nobody without the key may see two exclusive ors in the clear: see ``ClassRecord``.
public struct RecordSet: Hashable, Sendable {
  /// The number of records; possibly negative in the difference of two sets.
  public private(set) var count: Int64
  private(set) var marks: RecordMark

  /// Makes an empty set.
  public init() { self.init(count: 0, marks: RecordMark(words: (0, 0, 0, 0))) }

  init(count: Int64, marks: RecordMark) {
    self.count = count
    self.marks = marks
  }

  /// Adds a record.
  public mutating func insert(_ mark: RecordMark) { merge(RecordSet(count: 1, marks: mark)) }

  /// Removes a record.
  public mutating func remove(_ mark: RecordMark) { merge(RecordSet(count: -1, marks: mark)) }

  /// Applies a difference.
  public mutating func merge(_ other: RecordSet) {
    count &+= other.count
    marks = marks ^ other.marks
  }

  /// The difference that removes all records.
  public var emptied: RecordSet { RecordSet(count: 0 &- count, marks: marks) }

  /// True if this set is `other` with one more record, whose mark is `mark`.
  public func isSet(_ other: RecordSet, with mark: RecordMark) -> Bool {
    var larger = other
    larger.insert(mark)
    return self == larger
  }
}
