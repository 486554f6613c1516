internal import CSodium

/// Keyed BLAKE2b (RFC 7693), libsodium's `crypto_generichash`: a pseudorandom function and a message authenticator.
public enum KeyedHash {
  /// Hashes `bytes` under `key` to `count` bytes.
  ///
  /// `count` is 16…64, and the key has 16…64 bytes; anything else is a programming error. `count` is part of the hash:
  /// a shorter hash is not a prefix of a longer one.
  public static func hash(_ bytes: RawSpan, key: borrowing SecureBytes, count: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var span = result.mutableSpan
    var out = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    hash(bytes, key: key, into: &out)
    return result
  }

  /// Hashes `bytes` under `key` into `destination`; the size of `destination` is the size of the hash.
  public static func hash(_ bytes: RawSpan, key: borrowing SecureBytes, into destination: inout MutableRawSpan) {
    check(destination.byteCount, key.count)
    unsafe destination.withUnsafeMutableBytes { out in
      unsafe bytes.withUnsafeBytes { input in
        // The sizes were checked, so this cannot fail.
        _ = unsafe key.lend { secret in
          unsafe crypto_generichash(
            out.baseAddress!, out.count, input.baseAddress, UInt64(input.count), secret, key.count)
        }
      }
    }
  }

  /// Hashes the concatenation of the parts under `key` into `destination`, without building the concatenation.
  ///
  /// The borders between the parts do not enter the hash; use ``Tag`` if they must.
  public static func hash(
    _ first: RawSpan, _ second: RawSpan, _ third: RawSpan = RawSpan(), key: borrowing SecureBytes,
    into destination: inout MutableRawSpan
  ) {
    check(destination.byteCount, key.count)
    unsafe withState(key: key, count: destination.byteCount) { state in
      unsafe update(state, first)
      unsafe update(state, second)
      unsafe update(state, third)
      unsafe destination.withUnsafeMutableBytes { out in
        _ = unsafe crypto_generichash_final(state, out.baseAddress!, out.count)
      }
    }
  }

  private static func check(_ count: Int, _ keyCount: Int) {
    precondition((16...64).contains(count), "a hash has 16 to 64 bytes")
    precondition((16...64).contains(keyCount), "a hash key has 16 to 64 bytes")
  }

  /// Lends the state of a hash of `count` bytes under `key`. The state is on the stack, aligned to 64 bytes as
  /// libsodium requires, and is wiped afterward.
  @unsafe static func withState(key: borrowing SecureBytes, count: Int, _ body: (OpaquePointer) -> Void) {
    precondition(crypto_generichash_statebytes() <= stateCount, "libsodium's hash state has grown")
    // A constant size and a usual alignment keep the allocation on the stack; anything else would take it from the
    // heap. So the code here does the alignment.
    unsafe withUnsafeTemporaryAllocation(byteCount: stateCount + stateAlignment, alignment: 16) { memory in
      let start = memory.baseAddress!
      let state = unsafe OpaquePointer(start.alignedUp(toMultipleOf: stateAlignment))
      unsafe key.lend { secret in
        unsafe crypto_generichash_init(state, secret, key.count, count)
        unsafe body(state)
      }
      unsafe sodium_memzero(start, stateCount + stateAlignment)
    }
  }

  private static let stateCount = 384
  private static let stateAlignment = 64

  @unsafe static func update(_ state: OpaquePointer, _ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { input in
      _ = unsafe crypto_generichash_update(state, input.baseAddress, UInt64(input.count))
    }
  }
}
