/// The data in a deposit about its item, other than the value.
public struct DepositedItem: Hashable, Sendable {
  public var name: ItemName
  /// The access class that the deposit enters.
  public var accessible: AccessClass
  /// The kind. A new item has this kind, or ``ItemKind/password`` if it is nil; an existing item must be of this kind.
  public var kind: ItemKind?
  /// The attributes. A new item gets these, or none if they are nil; an existing item must have the same.
  public var attributes: [String: String]?

  public init(
    name: ItemName, accessible: AccessClass, kind: ItemKind? = nil, attributes: [String: String]? = nil
  ) {
    (self.name, self.accessible, self.kind, self.attributes) = (name, accessible, kind, attributes)
  }
}
