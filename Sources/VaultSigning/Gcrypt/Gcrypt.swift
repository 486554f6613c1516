internal import CGcrypt

/// libgcrypt itself: it must be started once before any other call.
enum Gcrypt {
  private static let isStarted = vault_gcrypt_start() == 1

  /// Starts it; cheap after the first call, and safe from any thread.
  static func start() throws(SigningError) {
    guard isStarted else { throw SigningError("libgcrypt is older than \(GCRYPT_VERSION)") }
  }

  /// Throws for every result but success.
  static func check(_ result: gcry_error_t) throws(SigningError) {
    guard result != 0 else { return }
    // The text of an error that is known is a constant of the library's.
    throw SigningError("libgcrypt: \(unsafe gcry_strerror(result).map { unsafe String(cString: $0) } ?? "\(result)")")
  }
}

/// The memory in which libgcrypt holds keys.
public enum SigningMemory {
  /// True when it is locked into RAM. Where RLIMIT_MEMLOCK leaves no room for it, it is not, and may reach the swap.
  public static func isLocked() throws(SigningError) -> Bool {
    try Gcrypt.start()
    return vault_gcrypt_locked() == 1
  }
}
