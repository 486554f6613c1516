internal import CGcrypt
internal import VaultBytes
internal import VaultCore

/// Encryption with AES-128 (FIPS 197) in CBC mode (NIST SP 800-38A section 6.2) and with the padding of PKCS #7 (RFC
/// 5652 section 6.3), which libgcrypt does in its secure memory. Nothing here notices a changed ciphertext.
///
/// This mode is only for the Secret Service's protocol; ``AEAD`` seals this program's own data.
@safe struct PaddedCBC: ~Copyable {
  /// The size of a block, of a key and of an initialization vector in bytes.
  static let blockCount = 16

  private let handle: gcry_cipher_hd_t

  /// Takes a key of 16 bytes and an initialization vector of as many.
  init(key: borrowing SecureBytes, vector: RawSpan) throws(SigningError) {
    precondition(key.count == Self.blockCount && vector.byteCount == Self.blockCount)
    try Gcrypt.start()
    var handle: gcry_cipher_hd_t?
    try Gcrypt.check(
      unsafe gcry_cipher_open(
        &handle, Int32(GCRY_CIPHER_AES.rawValue), Int32(GCRY_CIPHER_MODE_CBC.rawValue),
        UInt32(GCRY_CIPHER_SECURE.rawValue)))
    guard let handle = unsafe handle else { throw SigningError("libgcrypt: no cipher") }
    var result = key.withBytes { key in
      unsafe key.withUnsafeBytes { unsafe gcry_cipher_setkey(handle, $0.baseAddress, $0.count) }
    }
    if result == 0 {
      result = unsafe vector.withUnsafeBytes { unsafe gcry_cipher_setiv(handle, $0.baseAddress, $0.count) }
    }
    if result != 0 { unsafe gcry_cipher_close(handle) }
    try Gcrypt.check(result)
    unsafe self.handle = handle
  }

  // This call wipes the handle's data about the key.
  deinit { unsafe gcry_cipher_close(handle) }

  /// The size of the ciphertext of `count` bytes: the next higher multiple of the block's size.
  static func paddedCount(_ count: Int) -> Int { (count / blockCount + 1) * blockCount }

  /// Encrypts `plaintext` into `room`, which must have the size that ``paddedCount(_:)`` gives. The plaintext itself is
  /// never written there.
  consuming func encrypt(_ plaintext: RawSpan, into room: inout MutableRawSpan) throws(SigningError) {
    precondition(room.byteCount == Self.paddedCount(plaintext.byteCount))
    let whole = room.byteCount - Self.blockCount
    let rest = plaintext.extracting(droppingFirst: whole)
    let last = SecureBytes(count: Self.blockCount) { block in
      for place in 0..<Self.blockCount { block.set(UInt8(Self.blockCount - rest.byteCount), at: place) }
      block.copy(rest)
    }
    try encryptBlocks(plaintext.extracting(first: whole), into: &room, at: 0)
    try last.withBytes { (last: RawSpan) throws(SigningError) in try encryptBlocks(last, into: &room, at: whole) }
  }

  /// Encrypts whole blocks to a place in `room`; each call continues the chain of the one before.
  func encryptBlocks(_ blocks: RawSpan, into room: inout MutableRawSpan, at place: Int) throws(SigningError) {
    let count = blocks.byteCount
    precondition(count % Self.blockCount == 0 && place >= 0 && count <= room.byteCount - place)
    guard count > 0 else { return }
    let handle = unsafe handle
    try Gcrypt.check(
      unsafe room.withUnsafeMutableBytes { room in
        // There is room for the blocks, as checked.
        unsafe blocks.withUnsafeBytes { blocks in
          unsafe gcry_cipher_encrypt(handle, room.baseAddress! + place, count, blocks.baseAddress, count)
        }
      })
  }

  /// Decrypts `ciphertext`, a positive multiple of the block's size, and removes the padding; nil if the padding is
  /// wrong. The time of the check does not depend on the bytes of the padding, only on its result.
  consuming func decrypt(_ ciphertext: RawSpan) throws(SigningError) -> SecureBytes? {
    precondition(!ciphertext.isEmpty)
    let padded = try decryptBlocks(ciphertext)
    return padded.withBytes { padded in
      guard let padding = Self.paddingCount(padded.extracting(last: Self.blockCount)) else { return nil }
      return SecureBytes(copying: padded.extracting(first: padded.byteCount - padding))
    }
  }

  /// Decrypts whole blocks; each call continues the chain of the one before.
  func decryptBlocks(_ blocks: RawSpan) throws(SigningError) -> SecureBytes {
    let count = blocks.byteCount
    precondition(count % Self.blockCount == 0)
    let handle = unsafe handle
    return try SecureBytes(count: count) { (room: inout MutableRawSpan) throws(SigningError) in
      try Gcrypt.check(
        unsafe room.withUnsafeMutableBytes { room in
          // Both have `count` bytes.
          unsafe blocks.withUnsafeBytes { blocks in
            unsafe gcry_cipher_decrypt(handle, room.baseAddress, count, blocks.baseAddress, count)
          }
        })
    }
  }

  /// The size of the padding at the end of the last block; nil if it is wrong. A padding has 1 to 16 bytes, each equal
  /// to their number.
  private static func paddingCount(_ block: RawSpan) -> Int? {
    let padding = Int(block.byte(blockCount - 1))
    // A negative difference has its highest bit set. Every byte of the block is read, whatever the padding.
    var wrong = UInt(bitPattern: (padding - 1) | (blockCount - padding)) >> (UInt.bitWidth - 1)
    for place in 0..<blockCount {
      let isPadding = UInt(bitPattern: blockCount - 1 - place - padding) >> (UInt.bitWidth - 1)
      wrong |= (0 &- isPadding) & UInt(block.byte(place) ^ block.byte(blockCount - 1))
    }
    return wrong == 0 ? padding : nil
  }
}
