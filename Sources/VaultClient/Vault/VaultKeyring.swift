internal import VaultBytes
public import VaultWire

// The import of items from another keyring, and their export to one.
extension Vault {
  /// Finds or makes the collection that receives the items of a collection in another keyring.
  ///
  /// - Parameters:
  ///   - source: the object path of the collection there; nil for the one that each keyring calls `login`.
  ///   - isDefault: true if it is the default collection there.
  ///   - trial: true to make nothing, and only find out what would be made.
  ///   - made: in a trial, the number of collections that would have been made before.
  public func importCollection(
    _ source: String?, label: String, isDefault: Bool, trial: Bool, made: Int = 0
  ) throws(ClientError) -> Wire.ImportCollectionReply {
    let parameters = Wire.ImportCollectionParameters(
      source: source, label: label, default: isDefault ? true : nil, trial: trial ? true : nil,
      made: trial && made > 0 ? made : nil, interactive: attended)
    return try call(.importCollection, again: true, parameters).decode()
  }

  /// Stores as many of the first items in `range` of a batch as the daemon handles in one call. None replaces another
  /// item, and a second call with the same items stores nothing.
  ///
  /// - Returns: the outcomes of these items, at least one.
  public func importItems(
    _ batch: borrowing Batch, _ range: Range<Int>, trial: Bool
  ) throws(ClientError) -> [String] {
    let reply: Wire.ImportItemsReply = try call(.importItems, again: true) { writer in
      writer.beginObject()
      writer.key("items")
      batch.write(range, to: &writer)
      if trial {
        writer.key("trial")
        writer.bool(true)
      }
      if interactive {
        writer.key("interactive")
        writer.bool(true)
      }
      writer.endObject()
    }.decode()
    guard (1...max(1, range.count)).contains(reply.outcomes.count) else {
      throw .protocolViolation("a wrong number of outcomes")
    }
    return reply.outcomes
  }

  /// Records that this program takes the values of items out of the vault.
  public func export(to place: String, count: Int) throws(ClientError) {
    let parameters = Wire.ExportParameters(to: place, items: count, interactive: attended)
    _ = try call(.export, again: true, parameters).decode(Wire.Empty.self)
  }

  /// Records that this program is about to store items from another program's files, whose format it names.
  public func beginImport(from format: String, count: Int) throws(ClientError) {
    let parameters = Wire.BeginImportParameters(from: format, items: count, interactive: attended)
    _ = try call(.beginImport, again: true, parameters).decode(Wire.Empty.self)
  }
}
