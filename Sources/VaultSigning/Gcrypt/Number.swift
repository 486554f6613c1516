internal import CGcrypt
internal import VaultCore

/// A number of libgcrypt, released with this value, and wiped if it lies in secure memory.
///
/// Arithmetic creates its results in secure memory.
@safe struct Number: ~Copyable, @unchecked Sendable {
  /// The number, valid as long as this value lives.
  let handle: gcry_mpi_t

  /// Takes ownership of a number that a call has made.
  init(taking handle: gcry_mpi_t?) throws(SigningError) {
    guard let handle = unsafe handle else { throw SigningError("libgcrypt: no number") }
    unsafe self.handle = handle
  }

  /// Makes zero, with room for secret digits.
  init() throws(SigningError) {
    try Gcrypt.start()
    try unsafe self.init(taking: gcry_mpi_snew(0))
  }

  /// Reads big-endian digits that are secret.
  init(secret digits: RawSpan) throws(SigningError) {
    try Gcrypt.start()
    let handle = unsafe digits.withUnsafeBytes { unsafe vault_secret_number($0.baseAddress, $0.count) }
    try unsafe self.init(taking: handle)
  }

  /// Reads big-endian digits that are not secret.
  init(_ digits: some Collection<UInt8>) throws(SigningError) {
    try Gcrypt.start()
    var handle: gcry_mpi_t?
    let digits = Array(digits)
    // The call reads exactly as many bytes as are passed to it.
    try Gcrypt.check(unsafe gcry_mpi_scan(&handle, GCRYMPI_FMT_USG, digits, digits.count, nil))
    try unsafe self.init(taking: handle)
  }

  deinit { unsafe gcry_mpi_release(handle) }

  /// The number of bits; 0 for the number 0.
  var bitCount: Int { unsafe Int(gcry_mpi_get_nbits(handle)) }

  /// The number of bytes of the digits.
  var byteCount: Int { (bitCount + 7) / 8 }

  /// The big-endian digits, with leading zeros up to `count` bytes; nil for a number that is longer. Only for a number
  /// that is not secret.
  func digits(count: Int) -> [UInt8]? {
    let size = byteCount
    guard size <= count else { return nil }
    var digits = [UInt8](repeating: 0, count: count)
    unsafe digits.withUnsafeMutableBytes { digits in
      unsafe write(to: UnsafeMutableRawBufferPointer(rebasing: digits[(count - size)...]))
    }
    return digits
  }

  /// Writes the digits into `room`, which must have exactly their size.
  @unsafe func write(to room: UnsafeMutableRawBufferPointer) {
    guard let start = room.baseAddress else { return }
    // `room` has the size of the digits, as this method requires.
    _ = unsafe gcry_mpi_print(
      GCRYMPI_FMT_USG, start.assumingMemoryBound(to: UInt8.self), room.count, nil, handle)
  }

  /// A value below, equal to or above 0, as this number compares to `other`.
  func compare(_ other: borrowing Number) -> Int { unsafe Int(gcry_mpi_cmp(handle, other.handle)) }

  /// A value below, equal to or above 0, as this number compares to a small number.
  func compare(_ other: UInt) -> Int { unsafe Int(gcry_mpi_cmp_ui(handle, other)) }

  var isOdd: Bool { unsafe gcry_mpi_test_bit(handle, 0) != 0 }
}

/// Arithmetic with secret results.
extension Number {
  /// This number minus one.
  func minusOne() throws(SigningError) -> Number {
    let result = try Number()
    unsafe gcry_mpi_sub_ui(result.handle, handle, 1)
    return result
  }

  func times(_ other: borrowing Number) throws(SigningError) -> Number {
    let result = try Number()
    unsafe gcry_mpi_mul(result.handle, handle, other.handle)
    return result
  }

  /// The remainder after division by `modulus`, which must not be 0.
  func rest(_ modulus: borrowing Number) throws(SigningError) -> Number {
    let result = try Number()
    unsafe gcry_mpi_mod(result.handle, handle, modulus.handle)
    return result
  }

  /// The remainder of this number's power after division by `modulus`, which must not be 0.
  ///
  /// libgcrypt 1.10 computes in secure memory, and chooses from its table of powers in constant time, only if all three
  /// numbers lie in secure memory, even public ones: its `_gcry_mpi_powm` puts the intermediate results where the
  /// modulus lies, and the table where the exponent lies.
  func power(_ exponent: borrowing Number, _ modulus: borrowing Number) throws(SigningError) -> Number {
    let result = try Number()
    unsafe gcry_mpi_powm(result.handle, handle, exponent.handle, modulus.handle)
    return result
  }

  /// True if the product with `other` leaves 1 after division by `modulus`, which must be above 1.
  func isInverse(of other: borrowing Number, _ modulus: borrowing Number) throws(SigningError) -> Bool {
    let product = try times(other)
    return try product.rest(modulus).compare(1) == 0
  }
}

extension Number {
  /// A secret random number of up to `bitCount` bits, from libsodium's generator.
  static func random(bitCount: Int) throws(SigningError) -> Number {
    var bytes = RandomBytes.secret(count: (bitCount + 7) / 8)
    bytes.withMutableBytes { bytes in
      guard bitCount % 8 != 0 else { return }
      // Every bit pattern is a UInt8.
      let first = unsafe bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
      bytes.storeBytes(of: first & (1 << UInt8(bitCount % 8) - 1), as: UInt8.self)
    }
    return try bytes.withBytes { (bytes: RawSpan) throws(SigningError) in try Number(secret: bytes) }
  }
}
