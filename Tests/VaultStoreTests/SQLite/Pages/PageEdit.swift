import Foundation

// Edits by an adversary below SQLite: the pages of a table's tree (sqlite.org/fileformat.html §1.6) are linked to other
// places.
extension Fixture {
  /// The new children of a tree's root.
  enum Circle: CaseIterable {
    /// All children are the root.
    case root
    /// All children are the first child.
    case firstChild
    /// The first child stays, and the others are the root: no walk over the tree ends by itself.
    case childAndRoot
    /// The last child is the first one, so that the highest key changes.
    case lastIsFirst
  }

  /// Links the tree of a table or an index of the closed vault in a circle. The tree's root must have children.
  func lead(_ name: String, in circle: Circle) throws {
    let root = try Self.run(path("vault.db"), "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
    // Pages in the log would take precedence over the pages changed here.
    _ = try Self.run(path("vault.db"), "PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path("vault.db")))
    defer { try? file.close() }
    try file.seek(toOffset: UInt64((root - 1) * 4096))
    guard var page = try file.read(upToCount: 4096).map({ [UInt8]($0) }), page[0] == 2 || page[0] == 5 else {
      throw RawError(text: "\(name) has no interior page")
    }
    let cells = Int(page[3]) << 8 | Int(page[4])
    // The places of the children's page numbers: at the beginning of each cell, and for the last child in the page's
    // header.
    let places = (0..<cells).map { Int(page[12 + 2 * $0]) << 8 | Int(page[13 + 2 * $0]) } + [8]
    guard cells >= 2 else { throw RawError(text: "\(name) has too few pages") }
    let first = page[places[0]..<places[0] + 4]
    let own = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: root >> $0) }[...]
    for (index, place) in places.enumerated() {
      switch circle {
      case .root: page.replaceSubrange(place..<place + 4, with: own)
      case .firstChild: page.replaceSubrange(place..<place + 4, with: first)
      case .childAndRoot where index > 0: page.replaceSubrange(place..<place + 4, with: own)
      case .lastIsFirst where index == places.count - 1: page.replaceSubrange(place..<place + 4, with: first)
      default: break
      }
    }
    try file.seek(toOffset: UInt64((root - 1) * 4096))
    try file.write(contentsOf: Data(page))
  }
}
