/// A hash over a set of records that is kept up to date record by record, in any order: MSet-XOR-Hash (Clarke, Devadas,
/// van Dijk, Gassend, Suh: Incremental Multiset Hash Functions and Their Application to Memory Integrity Checking, 2003).
///
/// It is the exclusive or of the records' marks, and their number. No two records of a store stand at the same place, so
/// what was written is a set, and the number makes a record that was put in twice show, which the exclusive or alone
/// would not. Whoever has no key must not see two exclusive ors in the clear: see ``ClassRecord``.
public struct RecordSet: Hashable, Sendable {
  /// The number of records; below zero in what is the difference of two sets.
  public private(set) var count: Int64
  private(set) var marks: RecordMark

  /// No records.
  public init() { self.init(count: 0, marks: RecordMark(words: (0, 0, 0, 0))) }

  init(count: Int64, marks: RecordMark) {
    self.count = count
    self.marks = marks
  }

  /// Puts a record in.
  public mutating func insert(_ mark: RecordMark) { merge(RecordSet(count: 1, marks: mark)) }

  /// Takes a record out.
  public mutating func remove(_ mark: RecordMark) { merge(RecordSet(count: -1, marks: mark)) }

  /// Applies a difference.
  public mutating func merge(_ other: RecordSet) {
    count &+= other.count
    marks = marks ^ other.marks
  }

  /// The difference that takes everything out.
  public var emptied: RecordSet { RecordSet(count: 0 &- count, marks: marks) }

  /// True when this set is `other` with one record more, whose mark is `mark`.
  public func isSet(_ other: RecordSet, with mark: RecordMark) -> Bool {
    var larger = other
    larger.insert(mark)
    return self == larger
  }
}
