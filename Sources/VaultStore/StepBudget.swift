internal import CSQLite

/// What one step of a statement may cost, in instructions of SQLite's virtual machine.
///
/// A tree whose pages lead in circles has no end, and where no row of it matches, no step over it comes back by itself.
/// No statement of ours looks at more than some thousand rows in one step, however large the store is; so the bound is
/// one number. Before the tables are known to be ours it is a smaller one: the schema that SQLite reads then, and parses
/// without an instruction, has nine rows.
@safe final class StepBudget {
  /// How often SQLite asks, and how often it may.
  private static let (interval, calls, callsOfSchema) = (Int32(512), 512, 1)
  /// Whether the tables are known to be ours.
  var isOfStore = false
  /// How many more times SQLite may ask.
  private let left: UnsafeMutablePointer<Int>

  init() {
    unsafe left = .allocate(capacity: 1)
    unsafe left.initialize(to: Self.callsOfSchema)
  }

  // After the connection, which is what asks, was closed.
  deinit { unsafe left.deallocate() }

  /// Has a connection ask; the budget has to outlive it.
  @unsafe func watch(_ handle: OpaquePointer) {
    unsafe sqlite3_progress_handler(
      handle, Self.interval,
      { context in
        // What was passed with it.
        guard let left = unsafe context?.assumingMemoryBound(to: Int.self) else { return 1 }
        unsafe left.pointee -= 1
        return unsafe left.pointee < 0 ? 1 : 0
      }, left)
  }

  /// Gives the next step its due.
  func refill() { unsafe left.pointee = isOfStore ? Self.calls : Self.callsOfSchema }
}
