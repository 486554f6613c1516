import VaultModel

// Version 1 of the encoding. Numbers are little-endian.
//
//   13  the prefix of every backup (see BackupPrefix)
//   16  vault id    8  created, Unix seconds    8  the database's size in bytes    32  salt
//   1  number of slots, then for each of them 2  record's size    …  record
//   72  wrapped key of `after-first-unlock`    24  the stream's own header
extension BackupHeader {
  /// The header as it begins a backup; also the associated data of the first piece.
  public func encoded() -> [UInt8] {
    let records = slots.map { $0.encoded() }
    let count =
      BackupPrefix.count + VaultID.count + 8 + 8 + salt.count + 1 + records.reduce(0) { $0 + 2 + $1.count }
      + wrappedKey.count + streamHeader.count
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    var writer = ByteWriter()
    func write(_ part: [UInt8], _ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
      unsafe writer.bytes(part.span.bytes, &out)  // Bytes have no padding: all are initialized.
    }
    write(BackupPrefix(headerCount: count).bytes, &writer, &out)
    write(vaultID.bytes, &writer, &out)
    writer.int64(created, &out)
    writer.int64(Int64(size), &out)
    write(salt, &writer, &out)
    writer.uint8(UInt8(slots.count), &out)
    for record in records {
      writer.uint16(record.count, &out)
      write(record, &writer, &out)
    }
    write(wrappedKey, &writer, &out)
    write(streamHeader, &writer, &out)
    precondition(writer.offset == count, "a header's size was computed wrongly")
    return bytes
  }

  /// Reads bytes that ``encoded()`` wrote.
  ///
  /// - Throws: ``CryptoError/limits(_:)`` for a number outside the accepted range; ``CryptoError/malformed(_:)`` for
  ///   any other bytes that are not a header.
  public init(decoding input: RawSpan) throws(CryptoError) {
    let prefix: BackupPrefix
    do throws(BackupPrefix.Problem) { prefix = try BackupPrefix(input) } catch { throw .malformed(error.reason) }
    guard prefix.headerCount == input.byteCount else { throw .malformed("backup header size") }
    var reader = ByteReader()
    _ = try reader.range(BackupPrefix.count, input)
    let vaultID = try VaultID(try reader.array(VaultID.count, input))
    let created = try reader.int64(input)
    let size = try reader.count(input, least: 1, "database size")
    let salt = try reader.array(Self.saltCount, input)
    var slots: [SlotRecord] = []
    for _ in 0..<(try reader.uint8(input)) {
      let range = try reader.range(try reader.uint16(input), input)
      slots.append(try SlotRecord(decoding: input.extracting(range)))
    }
    let wrappedKey = try reader.array(KeyWrap.wrappedCount, input)
    let streamHeader = try reader.array(StreamSealer.headerCount, input)
    try reader.finish(input)
    try self.init(
      vaultID: vaultID, created: created, size: size, salt: salt, slots: slots, wrappedKey: wrappedKey,
      streamHeader: streamHeader)
    if streamCount == nil { throw .limits("the database is larger than a file can be") }
  }
}
