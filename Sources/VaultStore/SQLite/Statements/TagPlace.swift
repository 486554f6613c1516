internal import VaultBytes
import VaultCore

/// The position of a walk over the table of tags.
struct TagPlace {
  private(set) var tag: [UInt8] = []
  private(set) var row = Int64.min

  /// Advances to a tag and a row; true when the tag is the same as before.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` unless the new tag and row come after the present ones.
  mutating func advance(to bytes: RawSpan, _ next: Int64) throws(VaultError) -> Bool {
    let order = Self.compare(tag, bytes)
    guard order < 0 || order == 0 && row < next else { throw Database.outOfOrder("tags") }
    row = next
    guard order < 0 else { return true }
    // The bytes are replaced in place, because this happens for each tag.
    guard tag.count == bytes.byteCount else {
      tag = [UInt8](copying: bytes)
      return false
    }
    for index in tag.indices { tag[index] = bytes.byte(index) }
    return false
  }

  /// True when this place is at the given tag and row, or after them.
  func isAtOrAfter(_ other: Tag, _ row: Int64) -> Bool {
    let order = other.withBytes { Self.compare(tag, $0) }
    return order > 0 || order == 0 && row <= self.row
  }

  /// Below 0 when `bytes` come after `tag` in the table, above 0 when they come before it, and 0 when both are equal.
  private static func compare(_ tag: [UInt8], _ bytes: RawSpan) -> Int {
    for index in 0..<min(tag.count, bytes.byteCount) {
      let (mine, other) = (tag[index], bytes.byte(index))
      if mine != other { return mine < other ? -1 : 1 }
    }
    return tag.count - bytes.byteCount
  }
}

extension Tag {
  /// True when the tag is made from an item's name, which no two items share.
  var isOfName: Bool { order >> 63 == 0 }
}
