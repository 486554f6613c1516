import VaultCore

/// A statement whose parameters 1 to 3 are the tags of one fact in the three classes.
///
/// It keeps the tags in memory of its own, which SQLite reads in place: a run allocates nothing for its parameters.
@safe final class TagStatement {
  let statement: Statement
  private let memory: UnsafeMutableRawBufferPointer

  init(_ statement: Statement) {
    self.statement = statement
    unsafe memory = .allocate(byteCount: 3 * Tag.count, alignment: 16)
  }

  // The statement goes too, and no longer reads its parameters.
  deinit { unsafe memory.deallocate() }

  /// Sets the tags; only between runs.
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
      // Both have the size of a tag.
      unsafe bytes.withUnsafeBytes { unsafe slot.copyMemory(from: $0) }
    }
    // The memory lives as long as the statement is run.
    try unsafe statement.bind(index, borrowing: UnsafeRawBufferPointer(slot))
  }
}
