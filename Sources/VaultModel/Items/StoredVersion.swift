/// The result of a change of an item.
public struct StoredVersion: Equatable, Sendable {
  /// The number of the version that is now current.
  public let number: Int
  /// True if the change made the item.
  public let isNew: Bool
  /// The expiry of the old value, Unix seconds, if it had passed and a new value removed it.
  public var pastExpiry: Int64?
  /// The identity of the item.
  public let item: ItemID

  /// Describes a result.
  public init(number: Int, of item: ItemID, isNew: Bool = false, pastExpiry: Int64? = nil) {
    self.number = number
    self.item = item
    self.isNew = isNew
    self.pastExpiry = pastExpiry
  }
}
