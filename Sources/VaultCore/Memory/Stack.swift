internal import CSodium

/// Traces that computing with secrets leaves behind on the calling thread: in the dead part of its stack, and in the
/// registers that nobody has needed since.
///
/// libsodium 1.0.18 leaves the key that `crypto_pwhash` made some 8 KiB below its caller, and `crypto_kdf` the subkeys;
/// compilers spill what they please. A thread that then waits keeps all of that, for whoever reads the process's memory.
/// ``SecureBytes`` wipes after each call that it lends itself to; a thread does so once more, and deeper, when it is done
/// with a job that had secrets, and the daemon's at every lock.
public enum Stack {
  /// More than a call of libsodium other than Argon2id and X25519 takes, or what reads a key for it, in bytes, and the dynamic linker's search for it, which saves
  /// the vector registers there; the tests of it hold this.
  package static let call = 8 << 10
  /// More than X25519 takes, or an Ed25519 key's public half, in bytes.
  package static let exchange = 32 << 10
  /// More than Argon2id takes, or libgcrypt, or a whole job of a thread.
  package static let job = 128 << 10

  private static let registers = vault_vector_registers()

  /// Zeroes the dead part of the calling thread's stack as deep as a job may have reached, and the vector registers.
  ///
  /// Not what lies in frames that are still alive, of callers: they have to be done, or wipe for themselves.
  @inline(never) public static func wipe() { wipe(job) }

  /// Zeroes `depth` bytes below the caller's frame, and the vector registers.
  @inline(never) package static func wipe(_ depth: Int) {
    Sodium.start()
    sodium_stackzero(depth)
    wipeRegisters()
  }

  /// Zeroes the vector registers: memcpy leaves in them what it copied, and the dynamic linker saves them to the stack
  /// whenever it looks for a function that is called for the first time.
  @inline(never) public static func wipeRegisters() { vault_wipe_vector_registers(registers) }
}
