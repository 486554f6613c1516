import VaultCore

/// A statement whose parameters 1 to 3 are the tags of one fact in the three classes.
///
/// The tags are kept in memory that this object owns and that SQLite reads in place, so a run allocates nothing for its
/// parameters.
@safe final class TagStatement {
  let statement: Statement
  private let memory: UnsafeMutableRawBufferPointer

  init(_ statement: Statement) {
    self.statement = statement
    unsafe memory = .allocate(byteCount: 3 * Tag.count, alignment: 16)
  }

  // The statement is released too, and no longer reads its parameters.
  deinit { unsafe memory.deallocate() }

  /// Sets the tags. Call this only between runs.
  func bind(_ tags: ClassTags) throws(VaultError) {
    try bind(tags.whenUnlocked, 0)
    try bind(tags.afterFirstUnlock, 1)
    try bind(tags.always, 2)
  }

  private func bind(_ tag: Tag?, _ place: Int) throws(VaultError) {
    let index = Int32(place + 1)
    // A comparison with NULL holds for no row.
    guard let tag else { return try statement.bindNull(index) }
    let slot = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(place * Tag.count)...].prefix(Tag.count))
    tag.withBytes { bytes in
      // Both sides have the size of a tag.
      unsafe bytes.withUnsafeBytes { unsafe slot.copyMemory(from: $0) }
    }
    // The memory lives as long as the statement.
    try unsafe statement.bind(index, borrowing: UnsafeRawBufferPointer(slot))
  }
}
