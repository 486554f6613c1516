/// The decision of the store's owner on a caller's access to an item. It is made after the item's head is opened and
/// before its value is.
public enum Decision: Hashable, Sendable {
  /// The value may be lent, unless it is a key that is never read.
  case allow
  /// The value may be opened so that this process can make something from it or do something with it. This includes a
  /// key that is never read.
  case allowWithin
  /// A person must be asked first.
  case ask
  case refuse
}
