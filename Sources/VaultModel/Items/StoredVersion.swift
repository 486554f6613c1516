/// The outcome of a change of an item.
public struct StoredVersion: Equatable, Sendable {
  /// The number of the version that is current now.
  public let number: Int
  /// The expiry of the old value, Unix seconds, where it had passed and a new value has taken it away.
  public var pastExpiry: Int64?
  /// The item.
  public let item: ItemID

  /// Describes an outcome.
  public init(number: Int, of item: ItemID, pastExpiry: Int64? = nil) {
    self.number = number
    self.item = item
    self.pastExpiry = pastExpiry
  }
}
