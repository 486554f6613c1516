public import VaultModel

/// A value left for an item while the vault was locked, or a sealed box that was handed in: the plaintext that is then
/// sealed to the vault's public key. The encoding, numbers little-endian, texts UTF-8:
///
///   1  format version, 1    …  stamp (``DepositStamp``)
///   1  bit 0: the depositor was an administrator    4  uid    4  number of groups    4  each
///   2  size, …  author    2  size, …  unit    2  size, …  file    2  size, …  digest; size 0 for none
///   1  content: 1 an item, 2 a sealed box, 3 an item that existed
///   an item: 8  the version of the existing item, 0 for no item, -1 if not known    …  item (``DepositedItem``)
///   an item that existed: 8  its version    16  its identity    …  item
///   a sealed box: all the rest
///
/// Each record has exactly one encoding: bytes that decode encode to the same bytes again.
public struct DepositRecord: Hashable, Sendable {
  /// The item as it was when the value was left.
  public struct Base: Hashable, Sendable {
    /// The version of the item; 0 if there was no item.
    public let version: Int
    /// The identity of the item, because another item may have the name later. Nil if there was no item, and in a
    /// record of the first programs, which did not store the identity.
    public let item: ItemID?

    public init(version: Int, item: ItemID?) { (self.version, self.item) = (version, item) }
  }

  public enum Content: Hashable, Sendable {
    /// A value for an item.
    ///
    /// - Parameters:
    ///   - base: The item as it was when the value was left; nil if not known.
    ///   - value: The place of the value in the plaintext.
    case item(DepositedItem, base: Base?, value: Range<Int>)
    /// The place in the plaintext of a box that ``DepositBox`` sealed.
    case box(Range<Int>)
  }

  public var stamp: DepositStamp
  public var depositor: Depositor
  public var content: Content

  private static let formatVersion: UInt8 = 1
  private static let administrator: UInt8 = 1

  /// Encodes a value for an item into `scratch`, where `fill` writes the value in place.
  ///
  /// - Returns: The result of `fill`.
  public static func encode<R>(
    _ stamp: DepositStamp, _ depositor: Depositor, _ item: DepositedItem, base: Base?, valueCount: Int,
    into scratch: Scratch, _ fill: (inout MutableRawSpan) -> R
  ) -> R {
    let identity = base?.item
    let count =
      headCount(depositor) + 8 + (identity == nil ? 0 : ItemID.count) + item.encodedCount(valueCount: valueCount)
    return scratch.fill(count: count) { out in
      var writer = ByteWriter()
      writeHead(stamp, depositor, identity == nil ? 1 : 3, &writer, &out)
      writer.int64(base.map { Int64($0.version) } ?? -1, &out)
      identity?.withBytes { writer.bytes($0, &out) }
      let result = item.write(valueCount: valueCount, &writer, &out, fill)
      precondition(writer.offset == count, "a deposit's size was computed wrongly")
      return result
    }
  }

  /// Encodes a value that lies in other memory into `scratch`.
  public static func encode(
    _ stamp: DepositStamp, _ depositor: Depositor, _ item: DepositedItem, base: Base?, value: RawSpan,
    into scratch: Scratch
  ) {
    encode(stamp, depositor, item, base: base, valueCount: value.byteCount, into: scratch) { out in
      var writer = ByteWriter()
      writer.bytes(value, &out)
    }
  }

  /// Encodes a box that was handed in into `scratch`.
  public static func encode(_ stamp: DepositStamp, _ depositor: Depositor, box: [UInt8], into scratch: Scratch) {
    scratch.fill(count: headCount(depositor) + box.count) { out in
      var writer = ByteWriter()
      writeHead(stamp, depositor, 2, &writer, &out)
      unsafe writer.bytes(box.span.bytes, &out)  // Bytes have no padding: all are initialized.
    }
  }

  private static func texts(_ depositor: Depositor) -> [String] {
    [depositor.author, depositor.unit ?? "", depositor.executable ?? "", depositor.digest ?? ""]
  }

  private static func headCount(_ depositor: Depositor) -> Int {
    1 + DepositStamp.encodedCount + 1 + 4 + 4 + 4 * depositor.groups.count
      + texts(depositor).reduce(0) { $0 + 2 + $1.utf8.count } + 1
  }

  private static func writeHead(
    _ stamp: DepositStamp, _ depositor: Depositor, _ content: UInt8, _ writer: inout ByteWriter,
    _ out: inout MutableRawSpan
  ) {
    writer.uint8(formatVersion, &out)
    stamp.write(&writer, &out)
    writer.uint8(depositor.isAdministrator ? administrator : 0, &out)
    writer.uint32(depositor.uid, &out)
    writer.uint32(UInt32(depositor.groups.count), &out)
    for group in depositor.groups { writer.uint32(group, &out) }
    for text in texts(depositor) { writer.sized(text, &out) }
    writer.uint8(content, &out)
  }

  /// Reads the encoding of a record.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other bytes.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of deposit") }
    stamp = try DepositStamp(&reader, input)
    depositor = try Self.depositor(&reader, input)
    switch try reader.uint8(input) {
    case let kind where kind == 1 || kind == 3:
      let version = try reader.int64(input)
      guard version >= (kind == 1 ? -1 : 1) else { throw .malformed("version of a deposit's item") }
      let identity = kind == 1 ? nil : ItemID(input.extracting(try reader.range(ItemID.count, input)))
      var value = 0..<0
      let item = try DepositedItem(&reader, input, value: &value)
      content = .item(item, base: version < 0 ? nil : Base(version: Int(version), item: identity), value: value)
      try reader.finish(input)
    case 2: content = .box(try reader.range(reader.remaining(input), input))
    default: throw .malformed("unknown content of deposit")
    }
  }

  private static func depositor(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> Depositor {
    let flags = try reader.uint8(input)
    guard flags & ~administrator == 0 else { throw .malformed("flags of deposit") }
    let uid = try reader.uint32(input)
    let count = Int(try reader.uint32(input))
    guard count <= Depositor.mostGroups, count * 4 <= reader.remaining(input) else { throw .malformed("groups") }
    var groups: [UInt32] = []
    for _ in 0..<count { groups.append(try reader.uint32(input)) }
    var texts: [String] = []
    for _ in 0..<4 {
      let size = try reader.uint16(input)
      guard size <= Depositor.longestText else { throw .malformed("depositor") }
      texts.append(try reader.text(size, input))
    }
    // The author becomes the writer of a version.
    guard (1...HeadAuthors.maximumBytes).contains(texts[0].utf8.count), (try? Subject(parsing: texts[0])) != nil else {
      throw .malformed("author of deposit")
    }
    func given(_ text: String) -> String? { text.isEmpty ? nil : text }
    return Depositor(
      uid: uid, groups: groups, unit: given(texts[1]), executable: given(texts[2]), digest: given(texts[3]),
      isAdministrator: flags != 0, author: texts[0])
  }
}
