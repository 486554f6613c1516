internal import VaultWire

/// The place of a zip archive's central directory, as the end of the archive tells it (APPNOTE.TXT, sections 4.3.14 to
/// 4.3.16).
struct ZipDirectory {
  private static let (endCount, locatorCount) = (22, 20)
  private static let longestComment = 0xFFFF

  /// The place of the directory, and the number of its members.
  let place: Range<Int>
  let count: Int

  init(_ numbers: ZipNumbers) throws(ImportFailure) {
    guard let end = try Self.end(numbers) else { throw .zip("its end is missing") }
    var (count, size) = (try numbers.number(end + 10, 2), try numbers.number(end + 12, 4))
    var (start, limit) = (try numbers.number(end + 16, 4), end)
    let (disk, first, here) = (
      try numbers.number(end + 4, 2), try numbers.number(end + 6, 2), try numbers.number(end + 8, 2)
    )
    if numbers.has((0x06, 0x07), at: end - Self.locatorCount) {
      // Zip64. A field of the older record counts if it is not filled with ones.
      limit = try numbers.number(end - Self.locatorCount + 8, 8)
      guard numbers.has((0x06, 0x06), at: limit), limit < end else { throw .zip("its zip64 record is missing") }
      if count == 0xFFFF { count = try numbers.number(limit + 32, 8) }
      if size == 0xFFFF_FFFF { size = try numbers.number(limit + 40, 8) }
      if start == 0xFFFF_FFFF { start = try numbers.number(limit + 48, 8) }
    } else {
      guard disk == 0, first == 0, here == count else {
        throw ImportFailure(.unsupported, "the zip archive is in several parts")
      }
    }
    guard start <= limit, size <= limit - start else { throw .zip("its directory is misplaced") }
    (place, self.count) = (start..<start + size, count)
  }

  /// The place of the last record, behind which a comment reaches to the end of the file; nil if there is none.
  private static func end(_ numbers: ZipNumbers) throws(ImportFailure) -> Int? {
    let last = numbers.bytes.count - endCount
    guard last >= 0 else { return nil }
    for place in stride(from: last, through: max(0, last - longestComment), by: -1)
    where numbers.has((0x05, 0x06), at: place) {
      if try numbers.number(place + 20, 2) == last - place { return place }
    }
    return nil
  }
}
