internal import CSodium

/// Ed25519 signatures (RFC 8032), from libsodium (`crypto_sign_detached`).
///
/// A secret key has 64 bytes here: the seed, which RFC 8032 calls the private key, followed by the public key. The two
/// halves have to match: a signature made with a public key of another seed reveals the secret scalar to anyone who
/// also has the correct signature of the same message.
public enum Ed25519 {
  /// The size of a seed in bytes.
  public static let seedCount = 32
  /// The size of a public key in bytes.
  public static let publicKeyCount = 32
  /// The size of a signature in bytes.
  public static let signatureCount = 64

  /// Makes the secret key of `seed`, and computes its public key.
  ///
  /// - Precondition: `seed` has 32 bytes.
  public static func secretKey(seed: RawSpan) -> SecureBytes {
    precondition(seed.byteCount == seedCount, "a seed has 32 bytes")
    let key = SecureBytes(count: seedCount + publicKeyCount)
    var publicKey = [UInt8](repeating: 0, count: publicKeyCount)
    unsafe seed.withUnsafeBytes { seed in
      // The call fills the 32 bytes of each half and does not fail.
      let seed = unsafe seed.bindMemory(to: UInt8.self).baseAddress!
      _ = unsafe key.lend(stack: Stack.exchange) { unsafe crypto_sign_seed_keypair(&publicKey, $0, seed) }
    }
    return key
  }

  /// Makes the secret key of `seed` from a public key that is known from an earlier ``secretKey(seed:)``.
  ///
  /// - Precondition: `seed` and `publicKey` have 32 bytes each. A public key of another seed is not detected.
  public static func secretKey(seed: RawSpan, trusting publicKey: [UInt8]) -> SecureBytes {
    precondition(seed.byteCount == seedCount && publicKey.count == publicKeyCount, "a seed and its key have 32 bytes")
    var key = SecureBytes(count: seedCount + publicKeyCount)
    key.withMutableBytes { key in
      unsafe key.withUnsafeMutableBytes { key in
        unsafe seed.withUnsafeBytes { unsafe key.copyMemory(from: $0) }
        // There is room for the 32 bytes after the seed.
        unsafe UnsafeMutableRawBufferPointer(rebasing: key[seedCount...]).copyBytes(from: publicKey)
      }
    }
    Stack.wipeRegisters()
    return key
  }

  /// The public half of a secret key.
  public static func publicKey(of secretKey: borrowing SecureBytes) -> [UInt8] {
    precondition(secretKey.count == seedCount + publicKeyCount, "a secret key has 64 bytes")
    return secretKey.withBytes { key in
      unsafe key.extracting(droppingFirst: seedCount).withUnsafeBytes { unsafe [UInt8]($0) }
    }
  }

  /// Signs `message`. The signature is always the same 64 bytes for one key and message.
  public static func sign(_ message: RawSpan, secretKey: borrowing SecureBytes) -> [UInt8] {
    precondition(secretKey.count == seedCount + publicKeyCount, "a secret key has 64 bytes")
    return unsafe [UInt8](unsafeUninitializedCapacity: signatureCount) { out, initialized in
      unsafe message.withUnsafeBytes { message in
        let start = unsafe message.bindMemory(to: UInt8.self).baseAddress
        // There is room for 64 bytes; the call does not fail.
        _ = unsafe secretKey.lend { key in
          unsafe crypto_sign_detached(out.baseAddress!, nil, start, UInt64(message.count), key)
        }
      }
      initialized = signatureCount
    }
  }

  /// True if `signature` is a valid signature of `message` under `publicKey`.
  ///
  /// libsodium refuses signatures and keys that have a second form (RFC 8032, section 5.1.7, and more): an S beyond the
  /// group's order, a public key that is not canonical, and points of small order.
  public static func verifies(_ signature: [UInt8], of message: RawSpan, publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureCount, publicKey.count == publicKeyCount else { return false }
    Sodium.start()
    return unsafe message.withUnsafeBytes { message in
      let start = unsafe message.bindMemory(to: UInt8.self).baseAddress
      // The sizes were checked.
      return unsafe crypto_sign_verify_detached(signature, start, UInt64(message.count), publicKey) == 0
    }
  }
}
