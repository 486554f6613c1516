/// One thing that is wrong with the store.
public struct Finding: Hashable, Sendable {
  /// The most that are listed.
  public static let limit = 1000

  public enum Kind: String, Hashable, Sendable {
    /// A record is not what was written.
    case damaged
    /// A record is not there.
    case missing
    /// A record, or one that belongs with it, is from an earlier time.
    case replayed
    /// A record does not belong where it is.
    case foreign
  }

  public var kind: Kind
  /// The number of the item; nil for what belongs to none.
  public var item: Int64?
  /// The name of the item, where it can be told.
  public var name: ItemName?
  /// The record and its fault, in words without names.
  public var text: String

  /// Describes it.
  public init(_ kind: Kind, item: Int64? = nil, name: ItemName? = nil, _ text: String) {
    self.kind = kind
    self.item = item
    self.name = name
    self.text = text
  }
}
