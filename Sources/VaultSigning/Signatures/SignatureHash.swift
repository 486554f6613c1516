internal import CGcrypt

/// The hash functions of signatures (FIPS 180-4).
enum SignatureHash: Sendable {
  case sha256, sha384, sha512

  /// The name in libgcrypt.
  var name: String {
    switch self {
    case .sha256: "sha256"
    case .sha384: "sha384"
    case .sha512: "sha512"
    }
  }

  /// The size of a digest in bytes.
  var count: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// The digest of `message`.
  func digest(of message: RawSpan) -> [UInt8] {
    let algorithm =
      switch self {
      case .sha256: GCRY_MD_SHA256
      case .sha384: GCRY_MD_SHA384
      case .sha512: GCRY_MD_SHA512
      }
    var digest = [UInt8](repeating: 0, count: count)
    unsafe message.withUnsafeBytes { message in
      // There is room for the digest, and the algorithm is one that the library always has.
      unsafe gcry_md_hash_buffer(Int32(algorithm.rawValue), &digest, message.baseAddress, message.count)
    }
    return digest
  }
}
