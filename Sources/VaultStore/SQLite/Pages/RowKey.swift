/// The key that a tree is ordered by. In a table it is the row number. In one of our indexes it is the bytes of a blob
/// or a text, if the index has one, followed by numbers. Texts are compared by their bytes, as SQLite does by default.
struct RowKey {
  var bytes: ArraySlice<UInt8> = []
  var numbers: (Int64, Int64) = (0, 0)

  /// True when this key comes before `other`.
  func precedes(_ other: RowKey) -> Bool {
    let order = compareBytes(other)
    return order == 0 ? numbers < other.numbers : order < 0
  }

  private func compareBytes(_ other: RowKey) -> Int {
    let (mine, others) = (bytes.startIndex, other.bytes.startIndex)
    for index in 0..<min(bytes.count, other.bytes.count) {
      let (byte, otherByte) = (bytes[mine + index], other.bytes[others + index])
      if byte != otherByte { return byte < otherByte ? -1 : 1 }
    }
    return bytes.count - other.bytes.count
  }
}
