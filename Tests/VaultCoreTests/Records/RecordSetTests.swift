import Testing
import VaultModel

@testable import VaultCore

@Suite final class RecordSetTests {
  private let vault = VaultID.random()
  private let key = RandomBytes.secret(count: 32)

  private func mark(_ item: Int64, _ text: String = "record", table: AssociatedData.Table = .heads) -> RecordMark {
    let place = AssociatedData(vault: vault, table: table, number: item, version: 1, accessible: .always)
    return unsafe RecordMark(place, text.utf8Span.span.bytes, key: key)
  }

  private func filled() -> RecordSets {
    var sets = RecordSets()
    for item in 1...5 { sets[.init(.heads)].insert(mark(Int64(item))) }
    sets[.init(.slots, part: 7)].insert(mark(7, table: .slots))
    sets[.init(.slots, part: .max)].insert(mark(8, table: .slots))
    return sets
  }

  private static let facts = ClassRecord.Facts(time: 1 << 40, nextRow: 6, nextSlot: 8)

  private func decode(
    _ bytes: [UInt8], vault other: VaultID? = nil, _ accessible: AccessClass = .always
  ) throws(CryptoError) -> ClassRecord {
    try unsafe ClassRecord(decoding: bytes.span.bytes, other ?? vault, accessible, key: key)
  }

  @Test("a mark is keyed BLAKE2b over the place and the record")
  func vector() {
    let place = AssociatedData(
      vault: vault, table: .values, item: .random(), version: 2, accessible: .whenUnlocked, policyRevision: 4)
    let text = "a record"
    let expected = unsafe KeyedHash.hash((place.bytes + Array(text.utf8)).span.bytes, key: key, count: 32)
    let mark = unsafe RecordMark(place, text.utf8Span.span.bytes, key: key)
    #expect(mark.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } == expected)
    let row: [UInt8] = [2, 1, 0, 0, 0, 0, 0, 0]
    let expectedThere = unsafe KeyedHash.hash((place.bytes + row + Array(text.utf8)).span.bytes, key: key, count: 32)
    let there = unsafe RecordMark(place, row: 0x0102, text.utf8Span.span.bytes, key: key)
    #expect(there.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } == expectedThere)
    let expectedAgain = unsafe KeyedHash.hash((expected + row).span.bytes, key: key, count: 32)
    let again = RecordMark(mark, row: 0x0102, key: key)
    #expect(again.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } == expectedAgain)
  }

  @Test("the order of records and of changes makes no difference, and what is taken out leaves no trace")
  func order() {
    var (first, second) = (RecordSet(), RecordSet())
    for item in 1...20 { first.insert(mark(Int64(item))) }
    for item in (1...25).reversed() { second.insert(mark(Int64(item))) }
    #expect(first != second)
    for item in 21...25 { second.remove(mark(Int64(item))) }
    #expect(first == second && first.count == 20)
    var difference = RecordSet()
    difference.remove(mark(3))
    difference.insert(mark(3, "changed"))
    first.merge(difference)
    #expect(first.count == 20 && first != second)
  }

  @Test("a record that is there twice, elsewhere or changed makes another set")
  func sensitive() {
    var set = RecordSet()
    set.insert(mark(1))
    for other in [mark(2), mark(1, "recorD"), mark(1, "record "), mark(1, ""), mark(1, table: .values)] {
      var changed = RecordSet()
      changed.insert(other)
      #expect(changed != set)
    }
    var twice = set
    for _ in 0..<2 { twice.insert(mark(2)) }
    #expect(twice != set && twice.count == 3)
    #expect(!twice.isSet(set, with: mark(2)))
    set.insert(mark(9))
    var less = set
    less.remove(mark(9))
    #expect(set.isSet(less, with: mark(9)) && !set.isSet(less, with: mark(1)))
  }

  @Test("what is stored is read back, looks different each time, and tells nothing of equal sets")
  func stored() throws {
    let record = ClassRecord(sets: filled(), facts: Self.facts)
    let first = record.encoded(vault, .always, key: key)
    let second = record.encoded(vault, .always, key: key)
    #expect(try decode(first) == record && decode(second) == record)
    #expect(record.sets.count == 7 && record.sets.places.count == 3 && record.facts.items == 5)
    // Except for the facts, the places and the numbers of records, every run of 16 bytes differs: the mask and the
    // masked bytes.
    let facts = 33..<69
    #expect(first[facts] == second[facts])
    let windows = Set((0...(first.count - 16)).map { Array(first[$0..<($0 + 16)]) })
    for start in 0...(second.count - 16) where !facts.overlaps(start..<(start + 16)) {
      #expect(!windows.contains(Array(second[start..<(start + 16)])))
    }
    let empty = ClassRecord(sets: RecordSets(), facts: Self.facts)
    #expect(try decode(empty.encoded(vault, .always, key: key)).sets.isEmpty)
  }

  @Test("what a record says in the clear is read without the key, and every truncation of it is refused")
  func inTheClear() throws {
    let record = ClassRecord(sets: filled(), facts: Self.facts)
    let bytes = record.encoded(vault, .always, key: key)
    #expect(try unsafe ClassRecord.facts(in: bytes.span.bytes) == record.facts)
    for count in 0..<bytes.count {
      let part = Array(bytes.prefix(count))
      // If the bytes end behind an entry, they read as a record of fewer sets, but do not authenticate.
      if let facts = try? unsafe ClassRecord.facts(in: part.span.bytes) { #expect(facts.items <= 5) }
      #expect(throws: CryptoError.self) { try decode(part) }
    }
  }

  @Test(
    "numbers that no vault comes to are refused, however well they authenticate",
    arguments: [
      ClassRecord.Facts(time: 0, nextRow: 0, nextSlot: 1), ClassRecord.Facts(time: 0, nextRow: -1, nextSlot: 1),
      ClassRecord.Facts(time: 0, nextRow: .max, nextSlot: 1), ClassRecord.Facts(time: 0, nextRow: 1, nextSlot: 0),
      ClassRecord.Facts(time: 0, nextRow: 1, nextSlot: .max),
    ])
  func absurd(facts: ClassRecord.Facts) throws {
    let bytes = ClassRecord(sets: filled(), facts: facts).encoded(vault, .always, key: key)
    #expect(throws: CryptoError.limits("numbers of a class record")) { try decode(bytes) }
    #expect(throws: CryptoError.self) { try unsafe ClassRecord.facts(in: bytes.span.bytes) }
  }

  @Test(
    "a number of records that no table has is refused, so that no sum of them is more than a number holds",
    arguments: [Int64.max, .min, ClassRecord.mostRecords + 1, -ClassRecord.mostRecords - 1], [1, 7] as [UInt32])
  func absurdCount(count: Int64, part: UInt32) throws {
    var sets = filled()
    let place = part == 1 ? RecordSets.Place(.heads) : RecordSets.Place(.slots, part: part)
    sets[place] = RecordSet(count: count, marks: mark(1))
    let bytes = ClassRecord(sets: sets, facts: Self.facts).encoded(vault, .always, key: key)
    #expect(throws: CryptoError.limits("numbers of a class record")) { try decode(bytes) }
    #expect(throws: CryptoError.self) { try unsafe ClassRecord.facts(in: bytes.span.bytes) }
  }

  @Test("every flipped bit, every truncation, another class, vault or key is refused")
  func refused() throws {
    let bytes = ClassRecord(sets: filled(), facts: Self.facts).encoded(vault, .always, key: key)
    for bit in 0..<(bytes.count * 8) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: CryptoError.authenticationFailed) { try decode(flipped) }
    }
    for count in 0..<bytes.count { #expect(throws: CryptoError.self) { try decode(Array(bytes.prefix(count))) } }
    #expect(throws: CryptoError.authenticationFailed) { try decode(bytes + [0]) }
    #expect(throws: CryptoError.authenticationFailed) { try decode(bytes, .whenUnlocked) }
    #expect(throws: CryptoError.authenticationFailed) { try decode(bytes, vault: .random()) }
    let other = RandomBytes.secret(count: 32)
    #expect(throws: CryptoError.authenticationFailed) {
      try unsafe ClassRecord(decoding: bytes.span.bytes, vault, .always, key: other)
    }
  }
}
