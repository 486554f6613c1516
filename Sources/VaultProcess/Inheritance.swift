// pam_vault.so also contains this file: there it is Embedded Swift, without a run-time library, in a process that must
// not take memory from the heap.

internal import CLinux

#if !hasFeature(Embedded)
  internal import Glibc
#endif

/// State that a process inherits from a script, or from the program that handles a login, and that a daemon must not
/// keep because it outlives them.
public enum Inheritance {
  /// The number of resource limits to reset: more than Linux has.
  private static let limits: Int32 = 16
  // Linux's numbers for these limits, which are the same on all of its architectures that Swift supports.
  private static let stackLimit: Int32 = 3
  private static let coreLimit: Int32 = 4
  private static let openFilesLimit: Int32 = 7
  /// The stack's limit that the kernel starts with, in bytes.
  private static let stack: UInt = 8 << 20
  /// The limit of open files that the kernel starts with. Programs that walk over every possible descriptor depend on
  /// it.
  private static let openFiles: UInt = 1024

  /// Resets the niceness, the scheduling and I/O priorities, the personality, the soft limits (except the limit of core
  /// files) and the score for the kernel's out-of-memory killer.
  ///
  /// Hard limits stay, because they are the administrator's. A process without privileges cannot reset niceness, nor a
  /// scheduling policy below the normal one. Anything that cannot be reset is passed over. For a process with one
  /// thread.
  public static func reset() {
    _ = vault_reset_niceness()
    _ = vault_reset_scheduling()
    _ = vault_reset_io_priority()
    _ = vault_reset_personality()
    for resource in 0..<limits where resource != coreLimit {
      var limit = rlimit()
      guard unsafe vault_get_limit(resource, &limit) == 0 else { continue }
      switch resource {
      // An unlimited stack would change the layout of the whole address space.
      case stackLimit: limit.rlim_cur = min(rlim_t(stack), limit.rlim_max)
      case openFilesLimit: limit.rlim_cur = min(rlim_t(openFiles), limit.rlim_max)
      default: limit.rlim_cur = limit.rlim_max
      }
      _ = unsafe vault_set_limit(resource, &limit)
    }
    // A literal is stored with a NUL after it.
    let path: StaticString = "/proc/self/oom_score_adj"
    let score = unsafe vault_open(UnsafeRawPointer(path.utf8Start).assumingMemoryBound(to: CChar.self), O_WRONLY)
    guard score >= 0 else { return }
    var none = UInt8(ascii: "0")
    _ = unsafe write(score, &none, 1)
    close(score)
  }
}
