internal import CGcrypt
internal import Synchronization

/// The libgcrypt library, which must be started before any other call.
enum Gcrypt {
  private static let isStarted = vault_gcrypt_start() == 1
  /// True if the pool of secure memory is locked into RAM. It is found out once, because that takes most of the pool.
  fileprivate static let isLocked = isStarted && vault_gcrypt_locked() == 1
  private static let hasStarted = Atomic(false)

  /// Starts libgcrypt; cheap after the first call, and safe from any thread.
  static func start() throws(SigningError) {
    guard isStarted else { throw SigningError("libgcrypt is older than \(GCRYPT_VERSION)") }
    if !hasStarted.load(ordering: .relaxed) {
      // Before the pool holds anything.
      _ = isLocked
      hasStarted.store(true, ordering: .relaxed)
    }
  }

  /// True once something has needed the library.
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
  /// True if the memory is locked into RAM; nil as long as nothing has needed it. If RLIMIT_MEMLOCK leaves no room for
  /// it, the memory may reach the swap.
  public static var isLocked: Bool? { Gcrypt.isUsed ? Gcrypt.isLocked : nil }
}
