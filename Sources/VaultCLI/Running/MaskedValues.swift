internal import VaultWire

/// The values that must not show in a program's output, with what is needed to find them (the failure function of Knuth,
/// Morris and Pratt), in memory that wipes itself.
final class MaskedValues {
  private let bytes: SecretBuffer
  /// For each byte of a value the length of the longest beginning of the value that also ends there and is shorter: 32 bits.
  private let failures: SecretBuffer
  let places: [Range<Int>]
  /// The length of the longest one.
  let longest: Int

  /// - Parameter items: those whose values are masked, without the line breaks at their ends, which a program may leave out.
  convenience init(_ items: some Sequence<ItemReference>, _ fetched: borrowing FetchedItems) {
    var values = SecretBuffer()
    var places: [Range<Int>] = []
    for item in Set(items) {
      fetched.withBytes(of: item) { value in
        let start = values.count
        values.append(value.extracting(first: Self.countWithoutEnd(value)))
        places.append(start..<values.count)
      }
    }
    self.init(values, places)
  }

  /// - Parameter places: where each value lies in `bytes`. One that is empty masks nothing.
  init(_ bytes: consuming SecretBuffer, _ places: [Range<Int>]) {
    var failures = SecretBuffer(capacity: bytes.count * 4)
    failures.append(count: bytes.count * 4) { table in
      bytes.withBytes { bytes in
        for place in places { Self.prepare(Span<UInt8>(_bytes: bytes.extracting(place)), &table, at: place.lowerBound) }
      }
    }
    self.bytes = bytes
    self.failures = failures
    self.places = places.filter { !$0.isEmpty }
    longest = places.map(\.count).max() ?? 0
  }

  /// The bytes of a value without the line breaks at its end.
  static func countWithoutEnd(_ value: RawSpan) -> Int {
    let bytes = Span<UInt8>(_bytes: value)
    var count = bytes.count
    while count > 0, bytes[count - 1] == 0x0A || bytes[count - 1] == 0x0D { count -= 1 }
    // One of line breaks alone is masked as it is.
    return count > 0 ? count : bytes.count
  }

  private static func prepare(_ value: Span<UInt8>, _ table: inout MutableRawSpan, at start: Int) {
    var matched = 0
    for index in value.indices.dropFirst() {
      while matched > 0, value[index] != value[matched] {
        matched = failure(table.bytes, start + matched - 1)
      }
      if value[index] == value[matched] { matched += 1 }
      table.storeBytes(of: UInt32(matched), toByteOffset: 4 * (start + index), as: UInt32.self)
    }
  }

  private static func failure(_ table: RawSpan, _ index: Int) -> Int {
    // Checked, and any bit pattern is an integer.
    Int(unsafe table.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
  }

  /// Lends what a search needs: the bytes of all values, and the failure function by their places.
  func withTables<R>(_ body: (Span<UInt8>, (Int) -> Int) -> R) -> R {
    bytes.withBytes { bytes in
      failures.withBytes { table in body(Span<UInt8>(_bytes: bytes), { Self.failure(table, $0) }) }
    }
  }
}
