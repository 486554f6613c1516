// pam_vault.so is built with this file, too: Embedded Swift, without a run-time library, in a process that must not take
// memory from the heap.

internal import CLinux

#if !hasFeature(Embedded)
  internal import Glibc
#endif

/// State that a process inherits from a script, or the program that a login happens in, and a daemon that outlives it
/// must not keep.
public enum Inheritance {
  /// More than there are kinds of limits.
  private static let limits: Int32 = 16
  // Linux's numbers, the same on all its architectures that Swift knows.
  private static let stackLimit: Int32 = 3
  private static let coreLimit: Int32 = 4
  private static let openFilesLimit: Int32 = 7
  /// The limit that the kernel begins with, in bytes.
  private static let stack: UInt = 8 << 20
  /// The number that the kernel begins with, and that programs count on which go over all the numbers there can be.
  private static let openFiles: UInt = 1024

  /// Takes back niceness, scheduling, soft limits and what the kernel thinks of it when memory runs out.
  ///
  /// Hard limits stay: they are the administrator's. A process without privileges cannot take back niceness either, nor a
  /// scheduling policy that is below it. What cannot be undone is no reason not to go on. It is for a process with one thread.
  public static func reset() {
    _ = vault_reset_niceness()
    _ = vault_reset_scheduling()
    _ = vault_reset_io_priority()
    _ = vault_reset_personality()
    for resource in 0..<limits where resource != coreLimit {
      var limit = rlimit()
      guard unsafe vault_get_limit(resource, &limit) == 0 else { continue }
      switch resource {
      // An unlimited stack would change where everything lies in memory.
      case stackLimit: limit.rlim_cur = min(rlim_t(stack), limit.rlim_max)
      case openFilesLimit: limit.rlim_cur = min(rlim_t(openFiles), limit.rlim_max)
      default: limit.rlim_cur = limit.rlim_max
      }
      _ = unsafe vault_set_limit(resource, &limit)
    }
    // The literals are stored with a NUL behind them.
    let path: StaticString = "/proc/self/oom_score_adj"
    let score = unsafe vault_open(UnsafeRawPointer(path.utf8Start).assumingMemoryBound(to: CChar.self), O_WRONLY)
    guard score >= 0 else { return }
    var none = UInt8(ascii: "0")
    _ = unsafe write(score, &none, 1)
    close(score)
  }
}
