public import VaultBytes
internal import VaultModel
public import VaultWire

/// The reply of `Get`: a value that wipes itself, and its version.
public struct Value: ~Copyable, Sendable {
  /// The item's name.
  public let name: String
  /// The number of the version.
  public let version: Int
  /// The exact bytes that were stored.
  public let bytes: SecretBuffer
  /// Everything else about the item, if that was asked for and the caller may find the item.
  public var item: Wire.Item?
}

extension Value {
  init(_ response: consuming Response) throws(ClientError) {
    let reply: Wire.GetReply = try response.decode()
    do throws(ParameterError) {
      guard let bytes = try response.frame.content(reply.value, reply.data) else { throw ParameterError("value") }
      self.init(name: reply.name, version: reply.version, bytes: bytes, item: reply.item)
    } catch {
      throw .protocolViolation("parameter \(error.parameter)")
    }
  }
}

extension Vault {
  /// The time that a call waits for a person whom an agent asks, unless the call gives another.
  static let usualAsking = Duration.milliseconds(UsualPatience.milliseconds)

  /// Returns the value of the item `name`: the exact bytes that were stored.
  ///
  /// - Parameters:
  ///   - version: the number of the version; nil means the current one.
  ///   - wait: the time to wait for an unlock; nil fails at once with ``Fault/locked(state:cause:)``.
  ///   - expired: true to accept an item past its expiry.
  ///   - ask: true to wait, for `wait` or else for two minutes, if an attending agent can ask a person.
  public func get(
    _ name: String, version: Int? = nil, wait: Duration? = nil, expired: Bool = false, ask: Bool = false
  ) throws(ClientError) -> SecretBuffer {
    let value = try read(name, version: version, wait: wait, expired: expired, ask: ask)
    return value.bytes
  }

  /// Returns the value of the item `name` as text, for programs that need a `String`, which cannot be wiped from
  /// memory.
  ///
  /// - Throws: ``ClientError/notText(name:)`` when the value is not UTF-8.
  public func get(
    _ name: String, as type: String.Type, version: Int? = nil, wait: Duration? = nil, expired: Bool = false
  ) throws(ClientError) -> String {
    let value = try get(name, version: version, wait: wait, expired: expired)
    guard
      let text = value.withBytes({ bytes in
        // The pointer is valid during the call, and `String` copies the bytes.
        unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
      })
    else {
      throw .notText(name: name)
    }
    return text
  }

  /// Returns the value of the item `name` with its version; the parameters are those of
  /// ``get(_:version:wait:expired:ask:)``.
  ///
  /// - Parameter describe: also returns ``Value/item``, with one call and one entry in the audit log. A daemon of an
  ///   earlier version does not know this parameter, and returns the value alone.
  public func read(
    _ name: String, version: Int? = nil, wait: Duration? = nil, expired: Bool = false, ask: Bool = false,
    describe: Bool = false
  ) throws(ClientError) -> Value {
    var asked = question(name, version: version, wait: wait, expired: expired, ask: ask, describe: describe)
    do throws(ClientError) { return try read(asked) } catch .fault(.service(.invalidParameter("describe"))) {
      asked.describe = nil
      return try read(asked)
    }
  }

  private func read(_ asked: Wire.GetParameters) throws(ClientError) -> Value {
    let wait = asked.waitMilliseconds.map { Duration.milliseconds($0) }
    return try Value(call(.get, again: true, wait: wait ?? (asked.ask == true ? Self.usualAsking : nil), asked))
  }

  /// The parameters of a call that reads a value.
  func question(
    _ name: String, version: Int?, wait: Duration? = nil, expired: Bool, ask: Bool = false, describe: Bool
  ) -> Wire.GetParameters {
    Wire.GetParameters(
      name: name, version: version, waitMilliseconds: wait?.milliseconds, reason: reason, interactive: attended,
      expired: expired ? true : nil, ask: ask ? true : nil, describe: describe ? true : nil)
  }

  /// Returns everything about the item `name` except its value.
  public func show(_ name: String) throws(ClientError) -> Wire.Item {
    try call(.show, again: true, Wire.ShowParameters(name: name, interactive: attended))
      .decode(Wire.ShowReply.self).item
  }

  /// Returns the kept versions of the item `name`, newest first.
  public func history(_ name: String) throws(ClientError) -> [Wire.Version] {
    try call(.history, again: true, Wire.HistoryParameters(name: name, interactive: attended))
      .decode(Wire.HistoryReply.self).versions
  }

  /// Returns one page of the items that match `query` (nil: all), starting at `after`, the `next` of an earlier page.
  public func page(
    of query: String? = nil, limit: Int? = nil, after: String? = nil
  ) throws(ClientError) -> Wire.FindReply {
    try call(
      .find, again: true, Wire.FindParameters(query: query, limit: limit, after: after, interactive: attended)
    ).decode()
  }

  /// Returns all items that match `query` (nil: all), or those in the trash, at most `limit`. ``find(_:limit:each:)``
  /// keeps no items.
  ///
  /// - Throws: ``ClientError/answerTooLarge(limit:)`` when the items are more than 256 MiB; ``Fault/corrupt`` when no
  ///   item is found and a check of the store has failed, so that an item may be missing.
  public func find(
    _ query: String? = nil, limit: Int? = nil, inTrash: Bool = false
  ) throws(ClientError) -> [Wire.Item] {
    let (items, isFaulty) = try search(query, limit: limit, inTrash: inTrash)
    guard !isFaulty || !items.isEmpty else {
      let reason = "no item was found, and some may be missing: the check of the store has failed"
      throw .fault(.corrupt(reason: reason, newer: false, advice: nil))
    }
    return items
  }

  /// Returns what ``find(_:limit:inTrash:)`` returns, and whether items may be missing, because a check of the store
  /// has failed.
  public func search(
    _ query: String? = nil, limit: Int? = nil, inTrash: Bool = false
  ) throws(ClientError) -> (items: [Wire.Item], isFaulty: Bool) {
    try gather(.find, parameters(query, limit, inTrash: inTrash)) { pages throws(ClientError) in
      var found: [Wire.Item] = []
      var isFaulty = false
      var size = AnswerSize(limit: longestListing)
      while let page = try pages.next(timeout: timeout) {
        try size.add(page)
        let reply = try page.decode(Wire.FindReply.self)
        found += reply.items
        isFaulty = isFaulty || reply.faulty == true
      }
      return (found, isFaulty)
    }
  }

  /// Passes the items that match `query` (nil: all), at most `limit`, to `each`, page by page as they come, until
  /// `each` returns false.
  ///
  /// - Throws: ``ClientError/disconnected`` when the daemon goes away after the first page.
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
