internal import VaultWire

extension Vault {
  /// Hands over what stands directly in a folder, as it is found and in no order, until `each` says false: the names of
  /// its items, and of each folder within it once, with a slash behind it.
  ///
  /// - Parameters:
  ///   - prefix: what all names begin with; up to its last slash it is the folder, and without one it is the top.
  ///   - limit: the most names; 4096 where it is nil or more.
  public func children(_ prefix: String, limit: Int? = nil, each: ([String]) throws -> Bool) throws {
    var replies = try stream(
      .children, timeout: timeout, Wire.ChildrenParameters(prefix: prefix, limit: limit, interactive: attended))
    while let reply = try replies.next(timeout: timeout) {
      guard try each(reply.decode(Wire.ChildrenReply.self).names) else { return }
    }
  }

  /// Hands over the keys of all attributes, or the values of the attribute `key`, as they are found and in no order, until
  /// `each` says false. Each comes once, and 4096 of them at most.
  public func attributes(_ key: String? = nil, each: ([String]) throws -> Bool) throws {
    var replies = try stream(
      .attributes, timeout: timeout, Wire.AttributesParameters(key: key, interactive: attended))
    while let reply = try replies.next(timeout: timeout) {
      guard try each(reply.decode(Wire.AttributesReply.self).texts) else { return }
    }
  }
}
