import VaultCore
import VaultModel

// The numbers of what is new: the rows of items, and the ids of slots.
//
// Either belongs to this store alone, for items are known by their random identity. It only has to be none that was given
// before. Each class answers for the rows of its own items, and the strongest for the ids of slots, so that nobody who has
// another class's key, or none, can use up the numbers of a stronger one.
extension Keychain {
  /// How far the rows that the classes know of can be from each other: more than anybody makes items of one class between two
  /// of another.
  static let rowsApart: Int64 = 1 << 32

  /// The row for a new item of a class: a free one above all that its record knows of.
  ///
  /// Where the other records and the table itself know of higher ones it is above these too, so that rows stand in the order
  /// in which items were made; but only as far as that can have come about.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the class has no number left, which its own record alone can bring about.
  func nextRow(for accessible: AccessClass) throws(VaultError) -> Int64 {
    guard let own = facts[accessible]?.nextRow else { throw Self.unreadableRecord(accessible) }
    // No overflow: no record that can be read knows of a row above the last one.
    let end = min(own + Self.rowsApart, ClassRecord.lastRow)
    let known = AccessClass.allCases.compactMap { isVouchedFor[$0] ? facts[$0]?.nextRow : nil }.filter { $0 < end }
    let row = max(own, known.max() ?? 1, try database.lastRow(upTo: end - 1) + 1)
    if row < end { return row }
    // Somebody has put an item just below the end.
    guard own < end, let free = try database.freeRow(in: own..<end) else {
      throw .corrupt("there is no number left for an item of class \(accessible.name)")
    }
    return free
  }

  /// Says that the open transaction gives a row to an item of a class.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when it is a row that this program cannot have given.
  func takeRow(_ row: Int64, for accessible: AccessClass) throws(VaultError) {
    guard let own = facts[accessible]?.nextRow else { throw Self.unreadableRecord(accessible) }
    guard row < min(own + Self.rowsApart, ClassRecord.lastRow) else { throw .corrupt(Self.impossible(row)) }
    facts[accessible]?.nextRow = max(own, row + 1)
  }

  private static func impossible(_ row: Int64) -> String { "item \(row) has a number that was never given" }

  /// The number for a new slot: none that a slot has, or had by what the record of the strongest class says that is authentic.
  /// Where no key tells which are, the strongest that can be read is shown.
  public var nextSlotID: UInt32 {
    let readable = AccessClass.strongestFirst.filter { facts[$0] != nil }
    let judge = readable.first { isVouchedFor[$0] || (try? classRecord($0)) != nil } ?? readable.first
    var id = judge.flatMap { facts[$0]?.nextSlot } ?? 1
    while id < ClassRecord.lastSlot, hasSlot(id) { id += 1 }
    return id
  }

  /// Those whose word counts on rows that count to all classes, of the classes whose records are authentic: the strongest
  /// class alone, whose key nobody has who has not all keys. Where its record is lost, all others together.
  static func judges(_ authentic: [AccessClass]) -> [AccessClass] {
    authentic.contains(.whenUnlocked) ? [.whenUnlocked] : authentic
  }

  /// What the numbers in the class records show that cannot have come about here.
  func wrongNumbers() throws(VaultError) -> [Finding] {
    var authentic: [(accessible: AccessClass, facts: ClassRecord.Facts)] = []
    for accessible in AccessClass.strongestFirst where holdsIntegrityKey(accessible) {
      // Any other is found as such.
      if let record = try? classRecord(accessible) { authentic.append((accessible, record.facts)) }
    }
    guard let (strongest, first) = authentic.first else { return [] }
    var findings: [Finding] = []
    func add(_ accessible: AccessClass, _ what: String) {
      let text = "the class record of \(accessible.name) has \(what) than that of \(strongest.name)"
      findings.append(Finding(.damaged, text))
    }
    for (accessible, facts) in authentic.dropFirst() {
      if facts.nextSlot != first.nextSlot { add(accessible, "another number for the next slot") }
      if facts.nextRow > first.nextRow + Self.rowsApart { add(accessible, "a far higher number for the next item") }
    }
    let last = try database.lastRow()
    if authentic.count == AccessClass.allCases.count, authentic.allSatisfy({ $0.facts.nextRow <= last }) {
      findings.append(Finding(.foreign, item: last, Self.impossible(last)))
    }
    return findings
  }
}
