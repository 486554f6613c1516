/// The known state of the records as a whole.
public enum IntegrityState: Hashable, Sendable {
  /// No check with all keys has finished. A record that is not found may have been removed.
  case unchecked
  /// A check is running: the number of records, and pages of the file, done so far, and the approximate total.
  case checking(done: Int, of: Int)
  /// All records are exactly the ones that were last written.
  case ok
  /// Somebody or something changed the store. Nothing more is written to it until it is opened again.
  case failed
}
