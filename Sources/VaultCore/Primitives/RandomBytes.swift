internal import CSodium

/// Random bytes and numbers from the kernel's generator, through libsodium.
public enum RandomBytes {
  /// Returns `count` public random bytes: a salt, an id.
  public static func array(count: Int) -> [UInt8] {
    Sodium.start()
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { out, initialized in
      if let start = out.baseAddress { unsafe randombytes_buf(start, count) }
      initialized = count
    }
  }

  /// Returns `count` secret random bytes: a key.
  public static func secret(count: Int) -> SecureBytes {
    SecureBytes(count: count) { bytes in fill(&bytes) }
  }

  /// Fills `bytes` with random bytes.
  public static func fill(_ bytes: inout MutableRawSpan) {
    Sodium.start()
    unsafe bytes.withUnsafeMutableBytes { out in
      if let start = out.baseAddress { unsafe randombytes_buf(start, out.count) }
    }
  }

  /// Returns a number from 0 up to but not including `bound`, all equally likely; 0 if `bound` is below 2.
  public static func uniform(below bound: UInt32) -> UInt32 {
    Sodium.start()
    return randombytes_uniform(bound)
  }
}
