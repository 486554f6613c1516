internal import CGcrypt
internal import VaultWire

/// A symmetric cipher of KDBX files, run by libgcrypt; each call goes on where the one before ended.
@safe final class KDBXCipher {
  enum Algorithm {
    case aes256, twofish, chaCha20, salsa20

    /// The number of the algorithm and of its mode.
    fileprivate var numbers: (algorithm: gcry_cipher_algos, mode: gcry_cipher_modes) {
      switch self {
      case .aes256: (GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CBC)
      case .twofish: (GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_CBC)
      case .chaCha20: (GCRY_CIPHER_CHACHA20, GCRY_CIPHER_MODE_STREAM)
      case .salsa20: (GCRY_CIPHER_SALSA20, GCRY_CIPHER_MODE_STREAM)
      }
    }

    /// The size of the initialization vector in bytes.
    var vectorCount: Int {
      switch self {
      case .aes256, .twofish: 16
      case .chaCha20: 12
      case .salsa20: 8
      }
    }

    /// The size of a block in bytes; 1 for a stream of bytes.
    var blockCount: Int {
      switch self {
      case .aes256, .twofish: 16
      case .chaCha20, .salsa20: 1
      }
    }
  }

  let algorithm: Algorithm
  private let handle: gcry_cipher_hd_t

  /// Takes a key of 32 bytes, and a vector of the size that the algorithm has.
  init(_ algorithm: Algorithm, key: some Collection<UInt8>, vector: some Collection<UInt8>) throws(ImportFailure) {
    guard key.count == 32, vector.count == algorithm.vectorCount else {
      throw ImportFailure(.damaged, "a key or an initialization vector of the database has a wrong size")
    }
    try ImportFailure.startGcrypt()
    let numbers = algorithm.numbers
    var handle: gcry_cipher_hd_t?
    try ImportFailure.check(
      unsafe gcry_cipher_open(&handle, Int32(numbers.algorithm.rawValue), Int32(numbers.mode.rawValue), 0))
    guard let handle = unsafe handle else { throw ImportFailure(.failed, "libgcrypt: no cipher") }
    (self.algorithm, unsafe self.handle) = (algorithm, unsafe handle)
    // The calls read exactly as many bytes as are passed to them.
    let (key, vector) = (Array(key), Array(vector))
    try ImportFailure.check(unsafe gcry_cipher_setkey(handle, key, key.count))
    try ImportFailure.check(unsafe gcry_cipher_setiv(handle, vector, vector.count))
  }

  deinit { unsafe gcry_cipher_close(handle) }

  /// Decrypts bytes, of a block cipher whole blocks.
  func decrypt(_ bytes: some Collection<UInt8>) throws(ImportFailure) -> [UInt8] {
    let handle = unsafe handle
    var result = Array(bytes)
    let status = unsafe result.withUnsafeMutableBytes { room in
      // Without a source, the bytes are decrypted in place.
      unsafe room.isEmpty ? 0 : gcry_cipher_decrypt(handle, room.baseAddress, room.count, nil, 0)
    }
    try ImportFailure.check(status)
    return result
  }

  /// Encrypts `bytes` into `room`, which has the same size.
  func encrypt(_ bytes: [UInt8], into room: inout [UInt8]) throws(ImportFailure) {
    let handle = unsafe handle
    let status = unsafe room.withUnsafeMutableBytes { room in
      // The call knows both sizes.
      unsafe gcry_cipher_encrypt(handle, room.baseAddress, room.count, bytes, bytes.count)
    }
    try ImportFailure.check(status)
  }
}
