/// The mark of one record in a ``RecordSet``: 32 bytes of keyed BLAKE2b over the record's place and content.
public struct RecordMark: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 32
  typealias Words = (UInt64, UInt64, UInt64, UInt64)
  let words: Words

  /// Marks `record` at `place` under the integrity key of the record's class.
  ///
  /// The place has a fixed size, so the point where the record begins is unambiguous.
  public init(_ place: AssociatedData, _ record: RawSpan, key: borrowing SecureBytes) {
    self.init(unsafe place.storage.span.bytes, record, key: key)  // Bytes have no padding: all are initialized.
  }

  /// Marks `record`, which itself contains its place.
  public init(_ record: RawSpan, key: borrowing SecureBytes) { self.init(RawSpan(), record, RawSpan(), key: key) }

  /// Marks `record` after `before`, whose size follows from its content.
  init(_ before: RawSpan, _ record: RawSpan, key: borrowing SecureBytes) {
    self.init(before, record, RawSpan(), key: key)
  }

  /// Marks `record` as the record in `row`, if `place` does not say in which row the record lies.
  ///
  /// The row too has a fixed size: 8 bytes, little-endian.
  public init(_ place: AssociatedData, row: Int64, _ record: RawSpan, key: borrowing SecureBytes) {
    var row = row.littleEndian
    self = unsafe withUnsafeBytes(of: &row) { bytes in
      // The span is used within the life of the copy. Bytes have no padding: all are initialized.
      unsafe RecordMark(place.storage.span.bytes, RawSpan(_unsafeBytes: bytes), record, key: key)
    }
  }

  /// Marks the record for which `mark` stands as the record in `row`, under another key.
  public init(_ mark: RecordMark, row: Int64, key: borrowing SecureBytes) {
    var row = row.littleEndian
    self = unsafe withUnsafeBytes(of: &row) { bytes in
      // The span is used within the life of the copy. Bytes have no padding: all are initialized.
      let row = unsafe RawSpan(_unsafeBytes: bytes)
      return mark.withBytes { RecordMark($0, row, key: key) }
    }
  }

  private init(_ place: RawSpan, _ record: RawSpan, _ rest: RawSpan, key: borrowing SecureBytes) {
    var words: Words = (0, 0, 0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
      // The span is unique for the call and as large as the hash.
      var out = unsafe MutableRawSpan(_unsafeBytes: bytes)
      KeyedHash.hash(place, record, rest, key: key, into: &out)
    }
    self.words = words
  }

  init(words: Words) { self.words = words }

  /// The value in place of a mark that was not made.
  public static let none = RecordMark(words: (0, 0, 0, 0))

  /// Takes 32 stored bytes; nil for another size.
  public init?(_ bytes: RawSpan) {
    guard bytes.byteCount == Self.count else { return nil }
    // The size was checked: there are 32 bytes.
    words = unsafe bytes.unsafeLoadUnaligned(as: Words.self)
  }

  /// Lends the 32 bytes.
  func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // Both closures finish before the copy of the words is gone.
    try unsafe withUnsafeBytes(of: words) { (bytes: UnsafeRawBufferPointer) throws(E) -> R in
      try body(unsafe RawSpan(_unsafeBytes: bytes))
    }
  }

  static func ^ (a: RecordMark, b: RecordMark) -> RecordMark {
    RecordMark(
      words: (
        a.words.0 ^ b.words.0, a.words.1 ^ b.words.1, a.words.2 ^ b.words.2, a.words.3 ^ b.words.3
      ))
  }

  // Takes the same time wherever the marks differ, because this compares MACs.
  public static func == (a: RecordMark, b: RecordMark) -> Bool {
    let difference = (a ^ b).words
    return difference.0 | difference.1 | difference.2 | difference.3 == 0
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
