import VaultCore

/// Marks a row of the table of older values and its entry in the index by the content that both share, so that the
/// hashes over the marks show whether table and index list the same rows. The key is drawn anew for each check, so that
/// nobody can have made rows that fit it.
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
