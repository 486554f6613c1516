internal import VaultWire

/// The memory that the content of a database may still take, in bytes. Each thing that is held is charged with its
/// data and what the program needs around them.
struct KDBXBudget {
  private var left: Int

  /// The memory beside that of a file: half of what is left of 1 GiB, because a growing text is copied.
  init(fileCount: Int) { left = min(384 << 20, ((1 << 30) - fileCount) / 2) }

  mutating func take(_ bytes: Int) throws(ImportFailure) {
    guard bytes <= left else {
      throw ImportFailure(.tooLarge, "the content of the database needs too much memory")
    }
    left -= bytes
  }

  /// Gives back what was charged for something that is no longer held.
  mutating func release(_ bytes: Int) { left += bytes }
}
