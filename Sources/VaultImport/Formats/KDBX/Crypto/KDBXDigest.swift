internal import CGcrypt
internal import VaultWire

/// A hash of KDBX files, computed by libgcrypt.
@safe final class KDBXDigest {
  enum Function {
    case sha256, sha512

    fileprivate var number: Int32 {
      switch self {
      case .sha256: Int32(GCRY_MD_SHA256.rawValue)
      case .sha512: Int32(GCRY_MD_SHA512.rawValue)
      }
    }
  }

  private let handle: gcry_md_hd_t
  private let function: Function

  /// Begins a hash, or an HMAC (RFC 2104) if there is a key.
  init(_ function: Function, key: [UInt8]? = nil) throws(ImportFailure) {
    try ImportFailure.startGcrypt()
    var handle: gcry_md_hd_t?
    let flags = key == nil ? 0 : UInt32(GCRY_MD_FLAG_HMAC.rawValue)
    try ImportFailure.check(unsafe gcry_md_open(&handle, function.number, flags))
    guard let handle = unsafe handle else { throw ImportFailure(.failed, "libgcrypt: no digest") }
    (unsafe self.handle, self.function) = (unsafe handle, function)
    if let key {
      // The call reads exactly as many bytes as are passed to it.
      try ImportFailure.check(unsafe key.withUnsafeBytes { unsafe gcry_md_setkey(handle, $0.baseAddress, $0.count) })
    }
  }

  deinit { unsafe gcry_md_close(handle) }

  func add(_ bytes: some Collection<UInt8>) {
    let handle = unsafe handle
    func write(_ bytes: UnsafeRawBufferPointer) { unsafe gcry_md_write(handle, bytes.baseAddress, bytes.count) }
    // The call reads exactly as many bytes as are passed to it.
    let isContiguous: Void? = bytes.withContiguousStorageIfAvailable { unsafe write(.init($0)) }
    if isContiguous == nil { unsafe Array(bytes).withUnsafeBytes { unsafe write($0) } }
  }

  /// Ends the message, and returns the hash.
  func value() throws(ImportFailure) -> [UInt8] {
    guard let bytes = unsafe gcry_md_read(handle, function.number) else {
      throw ImportFailure(.failed, "libgcrypt: no digest")
    }
    // The bytes belong to the handle, which lives as long as this object.
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(gcry_md_get_algo_dlen(function.number))))
  }

  /// The SHA-256 hash of several parts as one message.
  static func sha256(_ parts: ArraySlice<UInt8>...) throws(ImportFailure) -> [UInt8] {
    let digest = try KDBXDigest(.sha256)
    for part in parts { digest.add(part) }
    return try digest.value()
  }

  /// The SHA-512 hash of several parts as one message.
  static func sha512(_ parts: ArraySlice<UInt8>...) throws(ImportFailure) -> [UInt8] {
    let digest = try KDBXDigest(.sha512)
    for part in parts { digest.add(part) }
    return try digest.value()
  }

  /// The HMAC with SHA-256 of several parts as one message.
  static func hmac(key: [UInt8], _ parts: ArraySlice<UInt8>...) throws(ImportFailure) -> [UInt8] {
    let digest = try KDBXDigest(.sha256, key: key)
    for part in parts { digest.add(part) }
    return try digest.value()
  }
}

extension ImportFailure {
  /// Starts libgcrypt; cheap after the first call.
  static func startGcrypt() throws(ImportFailure) {
    guard vault_gcrypt_start() == 1 else { throw ImportFailure(.failed, "libgcrypt is older than its header") }
  }

  /// Throws for any result of libgcrypt other than success.
  static func check(_ result: gcry_error_t) throws(ImportFailure) {
    guard result != 0 else { return }
    // The text of a known error is a constant of the library.
    let text = unsafe gcry_strerror(result).map { unsafe String(cString: $0) }
    throw ImportFailure(.failed, "libgcrypt: \(text ?? "\(result)")")
  }
}
