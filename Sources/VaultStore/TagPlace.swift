import VaultCore

/// How far a walk over the table of tags is.
struct TagPlace {
  private(set) var tag: [UInt8] = []
  private(set) var row = Int64.min

  /// Goes on to the tag and row in the first two columns; whether it is the same tag still.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless they come after the ones before.
  @discardableResult
  mutating func advance(to statement: Statement) throws(VaultError) -> Bool {
    let next = try statement.integer(1)
    let isSame = try statement.withBlob(0) { (bytes: RawSpan) throws(VaultError) -> Bool in
      let order = Self.compare(tag, bytes)
      guard order < 0 || order == 0 && row < next else { throw Database.outOfOrder("tags") }
      guard order < 0 else { return true }
      // In place, because it is done for each tag.
      guard tag.count == bytes.byteCount else {
        tag = [UInt8](copying: bytes)
        return false
      }
      for index in tag.indices { tag[index] = bytes.byte(index) }
      return false
    }
    row = next
    return isSame
  }

  /// Whether a tag and row lie at this place or before it.
  func isAtOrAfter(_ other: Tag, _ row: Int64) -> Bool {
    let order = other.withBytes { Self.compare(tag, $0) }
    return order > 0 || order == 0 && row <= self.row
  }

  /// Below, above or at 0 as `bytes` come after `tag` in the table, before it, or are the same.
  private static func compare(_ tag: [UInt8], _ bytes: RawSpan) -> Int {
    for index in 0..<min(tag.count, bytes.byteCount) {
      let (mine, other) = (tag[index], bytes.byte(index))
      if mine != other { return mine < other ? -1 : 1 }
    }
    return tag.count - bytes.byteCount
  }
}

extension Tag {
  /// Whether it is the tag of a name: of these, no two items have the same.
  var isOfName: Bool { order >> 63 == 0 }
}
