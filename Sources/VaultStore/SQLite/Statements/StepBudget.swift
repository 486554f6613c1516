internal import CSQLite

/// The bound on the cost of one step of a statement, counted in instructions of SQLite's virtual machine.
///
/// A tree whose pages lead in a circle has no end. If no row of it matches, a step over it never returns by itself. No
/// statement of ours examines more than a few thousand rows in one step, however large the store is, so the bound is
/// one number. The bound is smaller until the tables are known to be ours: the schema that SQLite reads then has few
/// rows, one for each of ``Schema/trees``, and parsing it takes no instruction.
@safe final class StepBudget {
  /// The number of instructions between two calls of the progress handler, and the number of calls allowed in one step:
  /// first in a store whose tables are known to be ours, then in a schema.
  private static let (interval, calls, callsOfSchema) = (Int32(512), 512, 1)
  /// True when the tables are known to be ours.
  var isOfStore = false
  /// The number of calls of the progress handler that are still allowed.
  private let left: UnsafeMutablePointer<Int>

  init() {
    unsafe left = .allocate(capacity: 1)
    unsafe left.initialize(to: Self.callsOfSchema)
  }

  // The memory is released only after the connection, which calls the handler, was closed.
  deinit { unsafe left.deallocate() }

  /// Registers the budget's progress handler with a connection. The budget must outlive the connection.
  @unsafe func watch(_ handle: OpaquePointer) {
    unsafe sqlite3_progress_handler(
      handle, Self.interval,
      { context in
        // The pointer is the one that was registered with the handler.
        guard let left = unsafe context?.assumingMemoryBound(to: Int.self) else { return 1 }
        unsafe left.pointee -= 1
        return unsafe left.pointee < 0 ? 1 : 0
      }, left)
  }

  /// Renews the budget for the next step.
  func refill() { unsafe left.pointee = isOfStore ? Self.calls : Self.callsOfSchema }
}
