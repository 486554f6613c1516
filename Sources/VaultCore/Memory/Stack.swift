internal import CSodium

/// Removal of the traces that computing with secrets leaves on the calling thread: in the dead part of its stack, and
/// in registers that have not been used since.
///
/// libsodium 1.0.18 leaves the key that `crypto_pwhash` made some 8 KiB below its caller, and the subkeys of
/// `crypto_kdf` likewise; compilers spill registers as they like. A thread that then waits keeps all of that, open to
/// anyone who reads the process's memory. ``SecureBytes`` wipes after each call to which it lends itself. A thread
/// wipes once more, and deeper, after a job that had secrets, and the daemon's thread does so at every lock.
public enum Stack {
  /// The bytes of stack wiped after one call of libsodium, except Argon2id and X25519. This is more than such a call
  /// takes, or the code that reads a key for it, or the dynamic linker's search for the function, which saves the
  /// vector registers there. The tests verify this.
  package static let call = 8 << 10
  /// More bytes of stack than X25519, or the computation of an Ed25519 key's public half, takes.
  package static let exchange = 32 << 10
  /// More bytes of stack than Argon2id, libgcrypt, or a whole job of a thread takes.
  package static let job = 128 << 10

  private static let registers = vault_vector_registers()

  /// Zeroes the dead part of the calling thread's stack, as deep as a job may have reached, and the vector registers.
  ///
  /// Frames of callers that are still alive are not wiped: those callers have to return first, or
  /// wipe their own traces.
  @inline(never) public static func wipe() { wipe(job) }

  /// Zeroes `depth` bytes below the caller's frame, and the vector registers.
  @inline(never) package static func wipe(_ depth: Int) {
    Sodium.start()
    sodium_stackzero(depth)
    wipeRegisters()
  }

  /// Zeroes the vector registers: memcpy leaves the copied bytes in them, and the dynamic linker saves them to the
  /// stack whenever it looks up a function that is called for the first time.
  @inline(never) public static func wipeRegisters() { vault_wipe_vector_registers(registers) }
}
