/// One fault found in the store.
public struct Finding: Hashable, Sendable {
  /// The highest number of findings that are listed.
  public static let limit = 1000

  public enum Kind: String, Hashable, Sendable {
    /// A record differs from what was written.
    case damaged
    /// A record is gone.
    case missing
    /// A record, or one that belongs with it, comes from an earlier time.
    case replayed
    /// A record does not belong in its place.
    case foreign
  }

  public var kind: Kind
  /// The number of the item; nil if the record belongs to no item.
  public var item: Int64?
  /// The name of the item, if it is known.
  public var name: ItemName?
  /// The record and its fault, in words that contain no names.
  public var text: String

  /// Describes a fault.
  public init(_ kind: Kind, item: Int64? = nil, name: ItemName? = nil, _ text: String) {
    self.kind = kind
    self.item = item
    self.name = name
    self.text = text
  }
}
