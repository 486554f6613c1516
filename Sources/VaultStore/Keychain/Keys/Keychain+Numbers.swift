import VaultCore
import VaultModel

// The numbers for new things: rows of items, numbers of deletions (which are taken from the rows), and ids of slots.
//
// These numbers belong to this store alone, because items are known by their random identity; a number only has to be
// one that was not given before. Each class determines the rows of its own items, and the strongest class determines
// the ids of slots. So nobody who has the key of another class, or none, can use up the numbers of a stronger class.
extension Keychain {
  /// The limit on the distance between the numbers ``ClassRecord/Facts/nextRow`` of two class records. It is more than
  /// the number of items of one class that anybody makes between two items of another class.
  static let rowsApart: Int64 = 1 << 32

  /// The row for a new item of a class: a free row above all rows that the class's record knows of.
  ///
  /// If the records of other classes and the table itself have higher rows, the new row is above these too, so that
  /// rows are in the order in which items were made. But rows that are too far ahead to have come about regularly
  /// (``rowsApart``) are ignored.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the class has no number left, which only its own record can cause.
  func nextRow(for accessible: AccessClass) throws(VaultError) -> Int64 {
    guard let own = facts[accessible]?.nextRow else { throw Self.unreadableRecord(accessible) }
    // The sum cannot overflow: no record that can be read has a row above the last one.
    let end = min(own + Self.rowsApart, ClassRecord.lastRow)
    var row = max(own, try database.lastRow(upTo: end - 1) + 1)
    for other in AccessClass.allCases where isVouchedFor[other] {
      if let next = facts[other]?.nextRow, next < end { row = max(row, next) }
    }
    if row < end { return row }
    // Somebody has put an item just below the end of the range.
    guard own < end, let free = try database.freeRow(in: own..<end) else {
      throw .corrupt("there is no number left for an item of class \(accessible.name)")
    }
    return free
  }

  /// Notes that the open transaction gives a row to an item of a class.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when this program cannot have given that row.
  func takeRow(_ row: Int64, for accessible: AccessClass) throws(VaultError) {
    guard let own = facts[accessible]?.nextRow else { throw Self.unreadableRecord(accessible) }
    guard row < min(own + Self.rowsApart, ClassRecord.lastRow) else { throw .corrupt(Self.impossible(row)) }
    facts[accessible]?.nextRow = max(own, row + 1)
  }

  /// Notes that the number of a deletion is taken, as ``takeRow(_:for:)`` does for a row. The next deletion then has a
  /// higher number, also in a store into which an item was copied. A number that this program cannot have given is
  /// ignored.
  func takeNumber(of trashed: Trashed, for accessible: AccessClass) {
    guard let own = facts[accessible]?.nextRow, trashed.number < min(own + Self.rowsApart, ClassRecord.lastRow) else {
      return
    }
    facts[accessible]?.nextRow = max(own, trashed.number + 1)
  }

  private static func impossible(_ row: Int64) -> String { "item \(row) has a number that was never given" }

  /// The number for a new slot: a number that no slot has now, and that no slot had before according to the strongest
  /// authentic class record. If no key shows which records are authentic, the strongest readable record counts.
  public var nextSlotID: UInt32 {
    let readable = AccessClass.strongestFirst.filter { facts[$0] != nil }
    let judge = readable.first { isVouchedFor[$0] || (try? classRecord($0)) != nil } ?? readable.first
    var id = judge.flatMap { facts[$0]?.nextSlot } ?? 1
    while id < ClassRecord.lastSlot, hasSlot(id) { id += 1 }
    return id
  }

  /// Returns the classes that decide whether a row that counts towards all classes is the one that was stored last, out
  /// of the classes whose records are authentic. The strongest class decides alone, because whoever has its key has all
  /// keys. If its record is not authentic, all the others decide together.
  static func judges(_ authentic: [AccessClass]) -> [AccessClass] {
    authentic.contains(.whenUnlocked) ? [.whenUnlocked] : authentic
  }

  /// Finds numbers in the class records that cannot have come about in this store.
  func wrongNumbers() throws(VaultError) -> [Finding] {
    var authentic: [(accessible: AccessClass, facts: ClassRecord.Facts)] = []
    for accessible in AccessClass.strongestFirst where holdsIntegrityKey(accessible) {
      // A record that is not authentic is reported elsewhere.
      if let record = try? classRecord(accessible) { authentic.append((accessible, record.facts)) }
    }
    guard let (strongest, first) = authentic.first else { return [] }
    var findings: [Finding] = []
    func add(_ accessible: AccessClass, _ what: String) {
      let text = "the class record of \(accessible.name) has \(what) than that of \(strongest.name)"
      findings.append(Finding(.damaged, text))
    }
    for (accessible, facts) in authentic.dropFirst() {
      if facts.nextSlot != first.nextSlot { add(accessible, "a different number for the next slot") }
      if facts.nextRow > first.nextRow + Self.rowsApart { add(accessible, "a far higher number for the next item") }
    }
    let last = try database.lastRow()
    if authentic.count == AccessClass.allCases.count, authentic.allSatisfy({ $0.facts.nextRow <= last }) {
      findings.append(Finding(.foreign, item: last, Self.impossible(last)))
    }
    return findings
  }
}
