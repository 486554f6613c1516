internal import VaultBytes
public import VaultModel

/// A value for an item, sealed to a vault's public key elsewhere, to be handed in to that vault. Its form
/// in transit, numbers little-endian:
///
///   1  format version, 1    16  vault id    …  sealed to the vault's public key (``SealedBox``):
///     1  format version, 1    …  stamp (``DepositStamp``)    …  item (``DepositedItem``)
///
/// Nothing in a box tells who sealed it: anybody who has the public key can.
public struct DepositBox: Hashable, Sendable {
  public var stamp: DepositStamp
  public var item: DepositedItem
  /// The place of the value in the plaintext.
  public var value: Range<Int>

  private static let formatVersion: UInt8 = 1
  /// The longest box in bytes: a value of 1 MiB with the largest name and attributes.
  public static let longest = DepositedItem.longestValue + (128 << 10)

  /// Seals a value, which `fill` writes in place, to another vault's key. `scratch` is empty afterward.
  ///
  /// - Returns: The box; nil if `fill` returns false.
  /// - Throws: ``CryptoError/malformed(_:)`` if `key` is not a valid public key.
  public static func seal(
    _ item: DepositedItem, valueCount: Int, to key: DepositKey, time: Int64, _ scratch: Scratch,
    _ fill: (inout MutableRawSpan) -> Bool
  ) throws(CryptoError) -> [UInt8]? {
    defer { scratch.empty() }
    let stamp = DepositStamp(vault: key.vault, time: time)
    guard encode(stamp, item, valueCount: valueCount, into: scratch, fill) else { return nil }
    let sealed = try scratch.withBytes { (bytes: RawSpan) throws(CryptoError) in
      try SealedBox.seal(bytes, to: key.publicKey)
    }
    return [formatVersion] + key.vault.bytes + sealed
  }

  /// Encodes the plaintext of a box into `scratch`, where `fill` writes the value in place.
  ///
  /// - Returns: The result of `fill`.
  public static func encode<R>(
    _ stamp: DepositStamp, _ item: DepositedItem, valueCount: Int, into scratch: Scratch,
    _ fill: (inout MutableRawSpan) -> R
  ) -> R {
    let count = 1 + DepositStamp.encodedCount + item.encodedCount(valueCount: valueCount)
    return scratch.fill(count: count) { out in
      var writer = ByteWriter()
      writer.uint8(formatVersion, &out)
      stamp.write(&writer, &out)
      let result = item.write(valueCount: valueCount, &writer, &out, fill)
      precondition(writer.offset == count, "a box's size was computed wrongly")
      return result
    }
  }

  private static func vault(of box: RawSpan) throws(CryptoError) -> VaultID {
    var reader = ByteReader()
    guard try reader.uint8(box) == formatVersion else { throw .malformed("unknown version of sealed deposit") }
    let vault = try VaultID(try reader.array(VaultID.count, box))
    guard reader.remaining(box) > SealedBox.overhead, box.byteCount <= longest else {
      throw .malformed("size of sealed deposit")
    }
    return vault
  }

  /// The vault that a box is for, which the box states in the clear.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if the bytes are not a box.
  public static func vault(of box: [UInt8]) throws(CryptoError) -> VaultID {
    try box.withSpan { (bytes: RawSpan) throws(CryptoError) in try vault(of: bytes) }
  }

  /// Opens a box into `scratch`.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` if the box was sealed to another key; ``CryptoError/malformed(_:)``
  ///   if the bytes are not a box.
  public static func open(
    _ box: RawSpan, publicKey: [UInt8], secretKey: borrowing SecureBytes, into scratch: Scratch
  ) throws(CryptoError) -> DepositBox {
    _ = try vault(of: box)
    try scratch.open(
      box.extracting(droppingFirst: 1 + VaultID.count), publicKey: publicKey, secretKey: secretKey)
    return try scratch.withBytes { (bytes: RawSpan) throws(CryptoError) in try DepositBox(decoding: bytes) }
  }

  private static let prefix = "vault-deposit:"

  /// A box as text: `vault-deposit:` and the bytes in base64 (RFC 4648).
  public static func text(of box: [UInt8]) -> String { prefix + box.base64 }

  /// Reads a box from its text.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other text.
  public static func box(of text: String) throws(CryptoError) -> [UInt8] {
    guard text.hasPrefix(prefix), let box = [UInt8](base64: text.dropFirst(prefix.count)) else {
      throw .malformed("it is not a sealed deposit")
    }
    _ = try vault(of: box)
    return box
  }

  /// Reads the plaintext of a box.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if the bytes are not the plaintext of a box.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of sealed deposit") }
    stamp = try DepositStamp(&reader, input)
    var value = 0..<0
    item = try DepositedItem(&reader, input, value: &value)
    self.value = value
    try reader.finish(input)
  }
}
