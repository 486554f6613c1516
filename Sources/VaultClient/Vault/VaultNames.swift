internal import VaultWire

extension Vault {
  /// Passes the direct contents of a folder to `each`, unordered and as they are found, until `each` returns false: the
  /// names of its items, and each subfolder once, with a slash at its end.
  ///
  /// - Parameters:
  ///   - prefix: the beginning of all names. Its part up to the last slash is the folder; without a slash that is the
  ///     top.
  ///   - limit: the most names; 4096 if it is nil or larger.
  public func children(_ prefix: String, limit: Int? = nil, each: ([String]) throws -> Bool) throws {
    var replies = try stream(
      .children, timeout: timeout, Wire.ChildrenParameters(prefix: prefix, limit: limit, interactive: attended))
    while let reply = try replies.next(timeout: timeout) {
      guard try each(reply.decode(Wire.ChildrenReply.self).names) else { return }
    }
  }

  /// Passes the keys of all attributes, or the values of the attribute `key`, to `each`, unordered and as they are
  /// found, until `each` returns false. Each key or value comes once, and at most 4096 come.
  public func attributes(_ key: String? = nil, each: ([String]) throws -> Bool) throws {
    var replies = try stream(
      .attributes, timeout: timeout, Wire.AttributesParameters(key: key, interactive: attended))
    while let reply = try replies.next(timeout: timeout) {
      guard try each(reply.decode(Wire.AttributesReply.self).texts) else { return }
    }
  }
}
