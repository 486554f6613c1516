/// What a deposit says of the item that it is for, beside its value.
public struct DepositedItem: Hashable, Sendable {
  public var name: ItemName
  /// The class that it enters.
  public var accessible: AccessClass
  /// Of a new item, which is a ``ItemKind/password`` unless this says something else; one that is there has to be such.
  public var kind: ItemKind?
  /// Of a new item, which has none unless this says something else; one that is there has to have the same.
  public var attributes: [String: String]?

  public init(
    name: ItemName, accessible: AccessClass, kind: ItemKind? = nil, attributes: [String: String]? = nil
  ) {
    (self.name, self.accessible, self.kind, self.attributes) = (name, accessible, kind, attributes)
  }
}
