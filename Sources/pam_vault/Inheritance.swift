import CLinux

/// What a process inherits from the program that a login happens in, and a daemon that outlives it must not keep.
enum Inheritance {
  /// More than there are kinds of limits.
  private static let limits: Int32 = 16
  private static let stackLimit: Int32 = 3
  private static let coreLimit: Int32 = 4
  /// What the kernel begins with, in bytes.
  private static let stack: UInt = 8 << 20

  /// Takes back niceness, scheduling, soft limits and what the kernel thinks of it when memory runs out.
  ///
  /// Called before the process becomes the user, who may not undo most of that. Hard limits stay: they are the
  /// administrator's. What cannot be undone is no reason not to go on.
  static func reset() {
    _ = vault_reset_niceness()
    _ = vault_reset_scheduling()
    _ = vault_reset_io_priority()
    _ = vault_reset_personality()
    for resource in 0..<limits where resource != coreLimit {
      var limit = rlimit()
      guard unsafe vault_get_limit(resource, &limit) == 0 else { continue }
      // An unlimited stack would change where everything lies in memory.
      limit.rlim_cur = resource == stackLimit ? min(stack, limit.rlim_max) : limit.rlim_max
      _ = unsafe vault_set_limit(resource, &limit)
    }
    let score = unsafe vault_open(("/proc/self/oom_score_adj" as StaticString).cString, O_WRONLY)
    guard score >= 0 else { return }
    unsafe _ = write(score, ("0" as StaticString).cString, 1)
    close(score)
  }
}
