internal import VaultBytes
import VaultCore

/// Marks for the rows of the table of older values and for the entries of its index. A mark is made from the content
/// that a row and its entry share, so that the hashes over the marks show whether the table and the index list the same
/// rows. The key is drawn anew for each check, so that nobody can have prepared rows that fit it.
final class VersionMarks {
  private let key = RandomBytes.secret(count: 32)

  /// Adds a row of the table, or an entry of its index, to a hash.
  func insert(item: Int64, version: Int64, row: Int64, into set: inout RecordSet) {
    var bytes: [UInt8] = []
    for number in [item, version, row] {
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
    set.insert(bytes.withSpan { RecordMark($0, key: key) })
  }
}
