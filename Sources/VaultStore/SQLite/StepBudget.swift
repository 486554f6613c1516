internal import CSQLite

/// The bound on the cost of one step of a statement, in instructions of SQLite's virtual machine.
///
/// A tree whose pages lead in circles has no end, and where no row of it matches, a step over it never returns by
/// itself. No statement of ours examines more than some thousand rows in one step, however large the store is; so the
/// bound is one number. Until the tables are known to be ours it is a smaller one: the schema that SQLite reads then,
/// and parses without an instruction, has eight rows.
@safe final class StepBudget {
  /// The number of instructions after which SQLite asks, and the number of times that it may ask, in a store that is
  /// known to be ours and in a schema.
  private static let (interval, calls, callsOfSchema) = (Int32(512), 512, 1)
  /// True when the tables are known to be ours.
  var isOfStore = false
  /// The number of times that SQLite may still ask.
  private let left: UnsafeMutablePointer<Int>

  init() {
    unsafe left = .allocate(capacity: 1)
    unsafe left.initialize(to: Self.callsOfSchema)
  }

  // Only after the connection, which is what asks, was closed.
  deinit { unsafe left.deallocate() }

  /// Makes a connection ask; the budget has to outlive it.
  @unsafe func watch(_ handle: OpaquePointer) {
    unsafe sqlite3_progress_handler(
      handle, Self.interval,
      { context in
        // The pointer that was registered with it.
        guard let left = unsafe context?.assumingMemoryBound(to: Int.self) else { return 1 }
        unsafe left.pointee -= 1
        return unsafe left.pointee < 0 ? 1 : 0
      }, left)
  }

  /// Renews the budget for the next step.
  func refill() { unsafe left.pointee = isOfStore ? Self.calls : Self.callsOfSchema }
}
