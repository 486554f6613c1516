internal import CGcrypt

/// The libgcrypt library, which must be started before any other call.
enum Gcrypt {
  private static let isStarted = vault_gcrypt_start() == 1

  /// Starts libgcrypt; cheap after the first call, and safe from any thread.
  static func start() throws(SigningError) {
    guard isStarted else { throw SigningError("libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  /// Throws for any result other than success.
  static func check(_ result: gcry_error_t) throws(SigningError) {
    guard result != 0 else { return }
    // The text of a known error is a constant of the library.
    throw SigningError("libgcrypt: \(unsafe gcry_strerror(result).map { unsafe String(cString: $0) } ?? "\(result)")")
  }
}

/// The memory in which libgcrypt holds keys.
public enum SigningMemory {
  /// True if the memory is locked into RAM. If RLIMIT_MEMLOCK leaves no room for it, the memory may reach the swap.
  public static func isLocked() throws(SigningError) -> Bool {
    try Gcrypt.start()
    return vault_gcrypt_locked() == 1
  }
}
