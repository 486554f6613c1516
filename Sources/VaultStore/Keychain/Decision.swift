/// The decision of the store's owner on what somebody may do to an item, made between opening its head and its value.
public enum Decision: Hashable, Sendable {
  case allow
  /// A person has to be asked first.
  case ask
  case refuse
}
