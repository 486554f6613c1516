public import VaultWire

/// The reply of `Get`: a value that wipes itself, and which version of the item it is.
public struct Value: ~Copyable, Sendable {
  /// The item's name.
  public let name: String
  /// The number of the version.
  public let version: Int
  /// The exact bytes that were stored.
  public let bytes: SecretBuffer
  /// Everything else about the item, where that was asked for and the caller may find it.
  public var item: Wire.Item?
}

extension Vault {
  /// The time for which a call waits for a person whom an agent asks, unless it says otherwise.
  static let usualAsking = Duration.seconds(120)

  /// The value of the item `name`: the exact bytes that were stored.
  ///
  /// - Parameters:
  ///   - version: which version; nil means the current one.
  ///   - wait: how long to wait for an unlock; nil fails at once with ``Fault/locked(state:cause:)``.
  ///   - expired: whether an item past its expiry will do.
  ///   - ask: whether to wait where an agent attends that can ask a person, for `wait` or else for two minutes.
  public func get(
    _ name: String, version: Int? = nil, wait: Duration? = nil, expired: Bool = false, ask: Bool = false
  ) throws(ClientError) -> SecretBuffer {
    let value = try read(name, version: version, wait: wait, expired: expired, ask: ask)
    return value.bytes
  }

  /// The value of the item `name` as text, for programs that can do with nothing else: a `String` cannot be wiped
  /// from memory. Throws ``ClientError/notText(name:)`` when it is not UTF-8.
  public func get(
    _ name: String, as type: String.Type, version: Int? = nil, wait: Duration? = nil, expired: Bool = false
  ) throws(ClientError) -> String {
    let value = try get(name, version: version, wait: wait, expired: expired)
    guard
      let text = value.withBytes({ bytes in
        // Lent for the call, and `String` copies.
        unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
      })
    else {
      throw .notText(name: name)
    }
    return text
  }

  /// The value of the item `name` with what is known of it; the parameters are those of
  /// ``get(_:version:wait:expired:ask:)``.
  ///
  /// - Parameter describe: also tells ``Value/item``, with one call and one entry in the audit log. A daemon of an earlier
  ///   version does not know that, and tells the value alone.
  public func read(
    _ name: String, version: Int? = nil, wait: Duration? = nil, expired: Bool = false, ask: Bool = false,
    describe: Bool = false
  ) throws(ClientError) -> Value {
    var asked = Wire.GetParameters(
      name: name, version: version, waitMilliseconds: wait?.milliseconds, reason: reason, interactive: attended,
      expired: expired ? true : nil, ask: ask ? true : nil, describe: describe ? true : nil)
    do throws(ClientError) { return try read(asked) } catch .fault(.service(.invalidParameter("describe"))) {
      asked.describe = nil
      return try read(asked)
    }
  }

  private func read(_ asked: Wire.GetParameters) throws(ClientError) -> Value {
    let wait = asked.waitMilliseconds.map { Duration.milliseconds($0) }
    let response = try call(.get, again: true, wait: wait ?? (asked.ask == true ? Self.usualAsking : nil), asked)
    let reply: Wire.GetReply = try response.decode()
    do throws(ParameterError) {
      guard let bytes = try response.frame.content(reply.value, reply.data) else { throw ParameterError("value") }
      return Value(name: reply.name, version: reply.version, bytes: bytes, item: reply.item)
    } catch {
      throw .protocolViolation("parameter \(error.parameter)")
    }
  }

  /// Everything about the item `name` but its value.
  public func show(_ name: String) throws(ClientError) -> Wire.Item {
    try call(.show, again: true, Wire.ShowParameters(name: name, interactive: attended))
      .decode(Wire.ShowReply.self).item
  }

  /// The kept versions of the item `name`, newest first.
  public func history(_ name: String) throws(ClientError) -> [Wire.Version] {
    try call(.history, again: true, Wire.HistoryParameters(name: name, interactive: attended))
      .decode(Wire.HistoryReply.self).versions
  }

  /// One page of the items that match `query` (nil: all), from `after`, an earlier page's `next`.
  public func page(
    of query: String? = nil, limit: Int? = nil, after: String? = nil
  ) throws(ClientError) -> Wire.FindReply {
    try call(
      .find, again: true, Wire.FindParameters(query: query, limit: limit, after: after, interactive: attended)
    ).decode()
  }

  /// All items that match `query` (nil: all), `limit` at most, or those in the trash. Throws ``ClientError/answerTooLarge(limit:)`` when they are
  /// more than 256 MiB; ``find(_:limit:each:)`` keeps none.
  public func find(
    _ query: String? = nil, limit: Int? = nil, inTrash: Bool = false
  ) throws(ClientError) -> [Wire.Item] {
    try gather(.find, parameters(query, limit, inTrash: inTrash)) { pages throws(ClientError) in
      var found: [Wire.Item] = []
      var size = AnswerSize(limit: longestListing)
      while let page = try pages.next(timeout: timeout) {
        try size.add(page)
        found += try page.decode(Wire.FindReply.self).items
      }
      return found
    }
  }

  /// Hands over the items that match `query` (nil: all), `limit` at most, page by page as they come, until `each`
  /// says false. Throws ``ClientError/disconnected`` when the daemon goes away behind the first page.
  public func find(_ query: String?, limit: Int? = nil, each: ([Wire.Item]) throws -> Bool) throws {
    var pages = try stream(.find, timeout: timeout, parameters(query, limit))
    while let page = try pages.next(timeout: timeout) {
      guard try each(page.decode(Wire.FindReply.self).items) else { return }
    }
  }

  private func parameters(_ query: String?, _ limit: Int?, inTrash: Bool = false) -> Wire.FindParameters {
    Wire.FindParameters(query: query, limit: limit, trash: inTrash ? true : nil, interactive: attended)
  }
}
