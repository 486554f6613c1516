internal import CGcrypt
internal import VaultModel

extension SignatureHash {
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
