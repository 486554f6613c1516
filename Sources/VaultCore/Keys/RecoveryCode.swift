internal import VaultBytes

/// A way into the vault that a person keeps on paper: 128 random bits with a checksum, in 30 symbols.
///
/// The text is `XXXXX-XXXXX-XXXXX-XXXXX-XXXXX-XXXXX` in Crockford's base 32 (no I, L, O, U). When a person types the
/// code, case, dashes and blanks do not matter; O is read as 0, I and L as 1. The checksum is a 22-bit cyclic code that
/// detects every mistake in one or two symbols, and thus also any two symbols that changed places. Other mistakes pass
/// once in four million times.
public struct RecoveryCode: ~Copyable, Sendable {
  /// The number of symbols, without the dashes.
  public static let symbolCount = 30
  static let groupCount = 5
  private let bits: SecureBytes

  /// Makes a new random code.
  public static func random() -> RecoveryCode { RecoveryCode(bits: RandomBytes.secret(count: 16)) }

  init(bits: consuming SecureBytes) { self.bits = bits }

  /// Reads a code that a person typed.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for another number of symbols, a character that is no symbol, or a wrong
  ///   checksum. Such a typing error is detected without a slow derivation.
  public init(typed: borrowing SecureBytes) throws(CryptoError) {
    let symbols = try SecureBytes(count: Self.symbolCount) { (symbols: inout MutableRawSpan) throws(CryptoError) in
      try typed.withBytes { (text: RawSpan) throws(CryptoError) in try Self.read(text, into: &symbols) }
    }
    bits = try symbols.withBytes { (symbols: RawSpan) throws(CryptoError) in
      var register = Checksum()
      for index in 0..<Self.symbolCount { register.add(symbol: symbols.byte(index)) }
      guard register.fits else { throw .malformed("recovery code checksum") }
      return SecureBytes(count: 16) { bits in
        for index in 0..<128 where symbols.byte(index / 5) >> (4 - UInt8(index % 5)) & 1 == 1 {
          bits.set(bits.byte(index / 8) | 0x80 >> UInt8(index % 8), at: index / 8)
        }
      }
    }
  }

  /// The code as a person sees it: 35 ASCII characters.
  public borrowing func text() -> SecureBytes {
    bits.withBytes { bits in
      SecureBytes(count: Self.symbolCount + Self.symbolCount / Self.groupCount - 1) { text in
        var register = Checksum()
        // The last 22 bits are 0 while the register runs over them; then they become the checksum.
        for index in 0..<Self.symbolCount { register.add(symbol: Self.symbol(index, of: bits, checksum: 0)) }
        let checksum = register.completion
        for index in 0..<Self.symbolCount {
          let place = index + index / Self.groupCount
          text.set(Self.alphabet[Int(Self.symbol(index, of: bits, checksum: checksum))], at: place)
          if index % Self.groupCount == Self.groupCount - 1, index < Self.symbolCount - 1 {
            text.set(UInt8(ascii: "-"), at: place + 1)
          }
        }
      }
    }
  }

  /// The 32-byte key that the code gives in the slot with `salt`: BLAKE2b of the salt, with the code as its key.
  ///
  /// This needs no Argon2id: nobody can guess 128 random bits, however fast the hash is.
  public borrowing func key(salt: [UInt8]) -> SecureBytes {
    SecureBytes(count: 32) { key in
      unsafe KeyedHash.hash(
        AssociatedData.encode([AssociatedData.formatField, Array("recovery".utf8), salt]).span.bytes, key: bits,
        into: &key)
    }
  }

  /// The five bits of symbol `index`, out of the 128 random bits followed by the 22 bits of the checksum.
  private static func symbol(_ index: Int, of bits: RawSpan, checksum: UInt32) -> UInt8 {
    var symbol: UInt8 = 0
    for place in index * 5..<index * 5 + 5 {
      let bit =
        place < 128 ? bits.byte(place / 8) >> (7 - UInt8(place % 8)) & 1 : UInt8(checksum >> (149 - UInt32(place)) & 1)
      symbol = symbol << 1 | bit
    }
    return symbol
  }

  private static func read(_ text: RawSpan, into symbols: inout MutableRawSpan) throws(CryptoError) {
    var count = 0
    for index in 0..<text.byteCount {
      switch text.byte(index) {
      case UInt8(ascii: "-"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
      case let character:
        guard let symbol = symbol(character) else {
          throw .malformed("recovery code has a character that is not allowed")
        }
        guard count < symbolCount else { throw .malformed("recovery code is too long") }
        symbols.set(symbol, at: count)
        count += 1
      }
    }
    guard count == symbolCount else { throw .malformed("recovery code is too short") }
  }

  private static func symbol(_ character: UInt8) -> UInt8? {
    let upper = UInt8(ascii: "a")...UInt8(ascii: "z") ~= character ? character - 32 : character
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default:
      for value in 0..<32 where alphabet[value] == upper { return UInt8(value) }
      return nil
    }
  }

  // 0123456789ABCDEFGHJKMNPQRSTVWXYZ
  private static let alphabet: InlineArray<32, UInt8> = [
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4A,
    0x4B, 0x4D, 0x4E, 0x50, 0x51, 0x52, 0x53, 0x54, 0x56, 0x57, 0x58, 0x59, 0x5A,
  ]
}

/// The remainder of the code word, as a polynomial over GF(2), modulo x²² + … (0x7CA9D3).
///
/// A search chose the polynomial so that no error pattern within two of the 30 symbols is a multiple of it; the tests
/// try all of these patterns. A valid code leaves a constant that is not zero, so a run of zeros is no code.
struct Checksum {
  private static let polynomial: UInt32 = 0x7C_A9D3
  private static let mask: UInt32 = 0x3F_FFFF
  private static let constant: UInt32 = 0x15_A5A5
  private(set) var remainder: UInt32 = 0

  mutating func add(symbol: UInt8) {
    for place in 0..<5 {
      remainder = remainder << 1 | UInt32(symbol >> (4 - place) & 1)
      if remainder > Self.mask { remainder ^= Self.polynomial }
    }
  }

  /// True if the symbols added so far end in their checksum.
  var fits: Bool { remainder == Self.constant }
  /// The 22 bits of the checksum, once all symbols were added with zeros in the checksum's place.
  var completion: UInt32 { remainder ^ Self.constant }
}
