internal import CGcrypt
internal import Synchronization

/// The libgcrypt library, which must be started before any other call.
enum Gcrypt {
  private static let isStarted = vault_gcrypt_start() == 1
  /// True if the pool of secure memory is locked into RAM. The check takes most of the pool, so it runs once.
  fileprivate static let isLocked = isStarted && vault_gcrypt_locked() == 1
  private static let hasStarted = Atomic(false)

  /// Starts libgcrypt; cheap after the first call, and safe from any thread.
  static func start() throws(SigningError) {
    guard isStarted else { throw SigningError("libgcrypt is older than \(GCRYPT_VERSION)") }
    if !hasStarted.load(ordering: .relaxed) {
      // The check needs the pool while it is empty.
      _ = isLocked
      hasStarted.store(true, ordering: .relaxed)
    }
  }

  /// True after the first call of ``start()``.
  fileprivate static var isUsed: Bool { hasStarted.load(ordering: .relaxed) }

  /// Throws for any result other than success.
  static func check(_ result: gcry_error_t) throws(SigningError) {
    guard result != 0 else { return }
    // The text of a known error is a constant of the library.
    throw SigningError("libgcrypt: \(unsafe gcry_strerror(result).map { unsafe String(cString: $0) } ?? "\(result)")")
  }
}

/// The memory in which libgcrypt holds keys.
public enum SigningMemory {
  /// True if the memory is locked into RAM; nil before the first use of libgcrypt. If RLIMIT_MEMLOCK is too low, the
  /// kernel may swap the memory out.
  public static var isLocked: Bool? { Gcrypt.isUsed ? Gcrypt.isLocked : nil }
}
