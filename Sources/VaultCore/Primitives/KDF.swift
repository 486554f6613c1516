internal import CSodium

/// Derivation of many keys from one (libsodium's `crypto_kdf`: BLAKE2b with the id as the salt and the
/// context as the personalization).
public enum KDF {
  /// Derives the 32-byte key number `id` of `key` for the purpose `context`.
  ///
  /// `context` has exactly 8 ASCII characters and `key` exactly 32 bytes; anything else is a programming error.
  public static func subkey(
    _ id: UInt64, context: StaticString, of key: borrowing SecureBytes
  ) -> SecureBytes {
    var subkey = SecureBytes(count: 32)
    derive(id, context: context, of: key, into: &subkey)
    return subkey
  }

  /// Derives the same key into an existing buffer of 32 bytes, because a new buffer costs system calls.
  public static func derive(
    _ id: UInt64, context: StaticString, of key: borrowing SecureBytes, into subkey: inout SecureBytes
  ) {
    precondition(context.hasPointerRepresentation && context.utf8CodeUnitCount == 8, "a context has 8 characters")
    precondition(key.count == 32 && subkey.count == 32, "a key has 32 bytes")
    // A static string lives as long as the program; C's char is signed, the bytes are the same.
    unsafe context.utf8Start.withMemoryRebound(to: CChar.self, capacity: 8) { name in
      // Cannot fail: 32 is within 16…64 bytes.
      _ = unsafe subkey.lend { subkey in
        unsafe key.lend { key in unsafe crypto_kdf_derive_from_key(subkey, 32, id, name, key) }
      }
    }
  }
}
