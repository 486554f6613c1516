/// The limits within which a JSON text is read.
public struct JSONLimits: Sendable {
  /// The maximum depth to which objects and arrays may nest, including the outermost object.
  public var depth: Int
  /// The highest number of keys and values.
  public var values: Int
  /// The highest number of members of one object.
  public var members: Int

  /// Makes limits; those of a message by default.
  public init(
    depth: Int = JSONObject.maximumDepth, values: Int = JSONObject.maximumValues,
    members: Int = JSONObject.maximumMembers
  ) {
    (self.depth, self.values, self.members) = (depth, values, members)
  }
}
