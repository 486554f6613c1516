/// The state of the records as a whole, as far as it is known.
public enum IntegrityState: Hashable, Sendable {
  /// No check came to its end in which all keys were there. What is not found may have been taken away.
  case unchecked
  /// A check is under way: so many records, and pages of the file, of about so many.
  case checking(done: Int, of: Int)
  /// All records are exactly those that were written last, none more and none less.
  case ok
  /// Somebody or something changed the store; nothing is written to it any more, until it is opened anew.
  case failed
}
