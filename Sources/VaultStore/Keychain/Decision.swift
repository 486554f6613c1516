/// The decision of the store's owner on what somebody may do to an item, made between opening its head and its value.
public enum Decision: Hashable, Sendable {
  /// The value may be lent, unless it is a key that is never read.
  case allow
  /// The value may be opened for what is made of it, or done with it, in this process: also that of a key that is never read.
  case allowWithin
  /// A person has to be asked first.
  case ask
  case refuse
}
