public import VaultBytes
public import VaultWire

extension Vault {
  /// Stores `value` as the item that `item` describes. Returns the number of the new version, and a past expiry if one
  /// was removed.
  ///
  /// - Throws: ``Fault/alreadyExists(name:failed:)`` for an existing item, unless `item.update` is true.
  @discardableResult
  public func set(_ item: Wire.NewItem, value: borrowing SecretBuffer) throws(ClientError) -> Wire.SetReply {
    try call(.set, again: false) { writer in
      value.withBytes { parameters(item).write(to: &writer, secret: $0) }
    }.decode()
  }

  /// Stores an item whose value the daemon generates (`item.generate`), or changes everything except the value of an
  /// existing one. Returns the number of the new version, and a past expiry if one was removed.
  @discardableResult
  public func set(_ item: Wire.NewItem) throws(ClientError) -> Wire.SetReply {
    try call(.set, again: false, parameters(item)).decode()
  }

  /// Stores all items of `batch`, or none. Returns the number of each item's new version, in their order.
  public func setMany(_ batch: borrowing Batch) throws(ClientError) -> [Int] {
    try setMany(batch, 0..<batch.count)
  }

  /// Stores the items of `batch` in `range`, counted from 0, or none of them. Returns the number of each item's new
  /// version, in their order.
  ///
  /// - Parameters:
  ///   - openTo: called with the other subjects that have rights to the new items by grants.
  ///   - meanwhile: called while the daemon stores the items: whenever they were sent, before the reply is read.
  public func setMany(
    _ batch: borrowing Batch, _ range: Range<Int>, openTo: ([Wire.Access]) -> Void = { _ in },
    meanwhile: () -> Void = {}
  ) throws(ClientError) -> [Int] {
    let reply: Wire.SetManyReply = try call(.setMany, again: false, meanwhile: meanwhile) { writer in
      writer.beginObject()
      writer.key("items")
      batch.write(range, to: &writer)
      if interactive {
        writer.key("interactive")
        writer.bool(true)
      }
      writer.endObject()
    }.decode()
    if let others = reply.openTo { openTo(others) }
    return reply.versions
  }

  /// Deletes the items `names`, all or none. They go to the trash, unless `now` is true or there is no trash.
  ///
  /// - Returns: the seconds for which the items can be restored; nil when they are gone.
  @discardableResult
  public func delete(_ names: [String], now: Bool = false) throws(ClientError) -> Int? {
    let parameters = Wire.DeleteParameters(names: names, now: now ? true : nil, interactive: attended)
    return try call(.delete, again: false, parameters).decode(Wire.DeleteReply.self).kept
  }

  /// Restores the item `name` from the trash; among several, the one deleted last.
  ///
  /// The reply names the other subjects that have rights to it by grants.
  @discardableResult
  public func undelete(_ name: String) throws(ClientError) -> Wire.UndeleteReply {
    try call(.undelete, again: false, Wire.UndeleteParameters(name: name, interactive: attended)).decode()
  }

  /// Deletes everything in the trash for good. Returns the number of items that are gone.
  ///
  /// - Parameter through: the highest ``Wire/Item/deletion`` of the items that were shown; later deletions stay in the
  ///   trash. Nil for all of the trash.
  @discardableResult
  public func emptyTrash(through: Int? = nil) throws(ClientError) -> Int {
    var (deleted, after): (Int, String?) = (0, nil)
    repeat {
      let reply: Wire.EmptyTrashReply = try call(
        .emptyTrash, again: false, Wire.EmptyTrashParameters(after: after, through: through, interactive: attended)
      ).decode()
      (deleted, after) = (deleted + reply.deleted, reply.next)
    } while after != nil
    return deleted
  }

  /// Makes the value of an older version of the item `name` current again. Returns the number of the new version.
  @discardableResult
  public func restoreVersion(_ version: Int, of name: String) throws(ClientError) -> Int {
    try call(
      .restoreVersion, again: false,
      Wire.RestoreVersionParameters(name: name, version: version, interactive: attended)
    ).decode(Wire.RestoreVersionReply.self).version
  }

  /// Renames an item; its versions and attributes stay.
  public func move(_ source: String, to target: String) throws(ClientError) {
    _ = try call(.move, again: false, Wire.MoveParameters(from: source, to: target, interactive: attended))
      .decode(Wire.Empty.self)
  }

  /// Stores a copy of the item `source` as `target`, with its value and all its metadata. The reply has the number of
  /// the new version, and the other subjects that have rights to a new item by grants.
  ///
  /// - Parameters:
  ///   - replacing: true to add the copy as a new version to an existing item; otherwise the call throws
  ///     ``Fault/alreadyExists(name:failed:)`` for an existing item.
  ///   - expired: true to accept an item past its expiry.
  @discardableResult
  public func copy(
    _ source: String, to target: String, replacing: Bool = false, expired: Bool = false
  ) throws(ClientError) -> Wire.CopyReply {
    try call(
      .copy, again: false,
      Wire.CopyParameters(
        from: source, to: target, replace: replacing ? true : nil, expired: expired ? true : nil,
        interactive: attended)
    ).decode()
  }

  /// Returns the version of the item `target` if it is already a copy of `source` as ``copy(_:to:replacing:expired:)``
  /// makes it.
  ///
  /// - Throws: ``Fault/alreadyExists(name:failed:)`` when it is another item.
  public func copied(_ source: String, to target: String, expired: Bool = false) throws(ClientError) -> Int {
    try call(
      .copy, again: true,
      Wire.CopyParameters(
        from: source, to: target, expired: expired ? true : nil, made: true, interactive: attended)
    ).decode(Wire.CopyReply.self).version
  }

  /// Returns a new secret, which the daemon generates and does not store.
  public func generate(_ recipe: Wire.Generator) throws(ClientError) -> SecretBuffer {
    let response = try call(.generate, again: true, Wire.GenerateParameters(recipe: recipe))
    let reply: Wire.GenerateReply = try response.decode()
    guard let node = reply.value, let value = response.frame.secret(node) else {
      throw .protocolViolation("parameter value")
    }
    // The value goes to terminals unescaped.
    guard value.withBytes({ $0.isText(of: UInt8(ascii: " ")...UInt8(ascii: "~"), 1...(1 << 20)) }) else {
      throw .protocolViolation("a generated value that is not printable ASCII")
    }
    return value
  }

  private func parameters(_ item: Wire.NewItem) -> Wire.SetParameters {
    Wire.SetParameters(
      name: item.name, generate: item.generate, kind: item.kind, use: item.use, attributes: item.attributes,
      accessible: item.accessible, require: item.require, reuse: item.reuse, expires: item.expires, update: item.update,
      neverRead: item.neverRead, interactive: attended)
  }
}

/// Items to store in one transaction, in memory that wipes itself.
public struct Batch: ~Copyable {
  private var items = JSONWriter()
  /// The offset of each item's end in the written bytes.
  private var ends: [Int] = []

  /// The number of items in the batch.
  public var count: Int { ends.count }

  /// Makes an empty batch.
  public init() { items.beginArray() }

  /// The size of the batch's message in bytes, which may not pass ``FrameReader/defaultLimit``.
  public var byteCount: Int { items.byteCount + 128 }

  /// Adds an item with its value.
  public mutating func add(_ item: Wire.NewItem, value: borrowing SecretBuffer) {
    value.withBytes { item.write(to: &items, secret: $0) }
    ends.append(items.byteCount)
  }

  /// Adds an item whose value the daemon generates, or whose value stays.
  public mutating func add(_ item: Wire.NewItem) {
    item.write(to: &items)
    ends.append(items.byteCount)
  }

  /// Adds an item of another keyring with its value, for ``Vault/importItems(_:_:trial:)``.
  public mutating func add(_ item: Wire.ForeignItem, value: borrowing SecretBuffer) {
    value.withBytes { item.write(to: &items, secret: $0) }
    ends.append(items.byteCount)
  }

  borrowing func write(_ range: Range<Int>, to writer: inout JSONWriter) {
    writer.beginArray()
    if let last = range.last {
      // A bracket or a comma stands before each item.
      let start = 1 + (range.lowerBound == 0 ? 0 : ends[range.lowerBound - 1])
      items.withBytes { writer.raw($0.extracting(start..<ends[last])) }
    }
    writer.endArray()
  }
}
