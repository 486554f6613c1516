internal import VaultBytes
internal import VaultWire

/// The values that must not show in a program's output, with the failure function of Knuth, Morris and Pratt for
/// finding them, in memory that wipes itself.
final class MaskedValues {
  private let bytes: SecretBuffer
  /// For each byte of a value, the length of the longest shorter beginning of the value that also ends there, in 32
  /// bits.
  private let failures: SecretBuffer
  let places: [Range<Int>]
  /// The length of the longest value in bytes.
  let longest: Int

  /// Takes the values of items.
  ///
  /// - Parameter items: the items whose values are masked, without the line breaks at their ends, which a program may
  ///   leave out.
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

  /// Takes values that lie in one buffer.
  ///
  /// - Parameter places: the place of each value in `bytes`. An empty value masks nothing.
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

  /// Returns the number of bytes of a value without the line breaks at its end.
  static func countWithoutEnd(_ value: RawSpan) -> Int {
    let bytes = Span<UInt8>(_bytes: value)
    var count = bytes.count
    while count > 0, bytes[count - 1] == 0x0A || bytes[count - 1] == 0x0D { count -= 1 }
    // A value of line breaks alone is masked as it is.
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
    // The index is checked, and any bit pattern is an integer.
    Int(unsafe table.unsafeLoadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
  }

  /// Lends the tables for a search: the bytes of all values, and the failure function by index.
  func withTables<R>(_ body: (Span<UInt8>, (Int) -> Int) -> R) -> R {
    bytes.withBytes { bytes in
      failures.withBytes { table in body(Span<UInt8>(_bytes: bytes), { Self.failure(table, $0) }) }
    }
  }
}
