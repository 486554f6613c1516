/// A search.
public struct Query: Hashable, Sendable {
  /// Reads a query.
  public init(parsing text: String) throws(QueryError) {}
  public func matches(_ item: ItemInfo, now: Int64) -> Bool { true }
  public var exactName: ItemName? { nil }
  public var folder: String? { nil }
  public var kind: ItemKind? { nil }
  public var equalities: [(key: String, value: String)] { [] }
}
/// A query that cannot be read.
public struct QueryError: Error, Hashable, Sendable {
  /// The byte offset in the query where reading failed.
  public let position: Int
  /// What is wrong there, for a person to read.
  public let reason: String
}
