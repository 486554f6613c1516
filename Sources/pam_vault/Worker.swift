import CLinux

/// The process that does an errand as the user, while the login goes on.
///
/// The parent is someone else's program: it must not notice. So the child is made by a bare clone(2), whose end sends no
/// SIGCHLD, and leaves its work to a child of its own, so that no zombie stays behind when nobody waits any longer. The
/// parent may have threads, of which these children have none: until they end or become `vaultd` they take no memory
/// from the heap and call nothing that a lock could hold up.
enum Worker {
  /// The time that a login waits, in milliseconds. Argon2id takes about 500, a daemon's start 50.
  private static let patience: Int64 = 1500
  /// The time that the worker itself tries, in milliseconds.
  private static let limit: Int64 = 30_000

  /// Does `errand` for `user` and answers what came of it, or ``Outcome/unfinished`` when that takes too long.
  static func run(_ errand: borrowing Errand, for user: borrowing User) -> Outcome {
    let deadline = Deadline(in: patience)
    var ends: (Int32, Int32) = (-1, -1)
    let made = unsafe withUnsafeMutablePointer(to: &ends) {
      unsafe $0.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe pipe2($0, O_CLOEXEC) }
    }
    guard made == 0 else { return .broken }
    // A handler of the parent's must not run in the child.
    var (all, old) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    let child = vault_clone()
    if child == 0 {
      let worker = vault_clone()
      if worker == 0 { work(errand, for: user, report: ends.1) }
      _exit(0)
    }
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
    close(ends.1)
    defer { close(ends.0) }
    guard child > 0 else { return .broken }
    while vault_wait_clone(child) < 0, vault_errno() == EINTR {}
    guard deadline.wait(for: POLLIN, on: ends.0) else { return .unfinished }
    var byte: UInt8 = 0
    guard unsafe read(ends.0, &byte, 1) == 1 else { return .broken }
    return Outcome(rawValue: byte) ?? .broken
  }

  private static func work(_ errand: borrowing Errand, for user: borrowing User, report: Int32) -> Never {
    // First, because a low limit of open files leaves no descriptors to detach with.
    Inheritance.reset()
    guard let report = detach(keeping: report) else { _exit(0) }
    var outcome = Outcome.broken
    if become(user), var conversation = Exchange(until: Deadline(in: limit)) {
      outcome = conversation.run(errand, for: user)
    }
    var byte = outcome.rawValue
    unsafe write(report, &byte, 1)
    _exit(0)
  }

  /// Leaves behind what belongs to the login: its terminal, its descriptors, what it does about signals. Answers the
  /// new number of `report`, or nil when that is not possible: nothing may be written then, since it could go to a
  /// descriptor of the login's.
  private static func detach(keeping report: Int32) -> Int32? {
    setsid()
    resetSignals()
    umask(0o077)
    unsafe chdir(("/" as StaticString).cString)
    // Above the standard ones, which may be closed.
    let high = vault_dup_above(report, 10)
    let null = unsafe vault_open(("/dev/null" as StaticString).cString, O_RDWR)
    guard high >= 0, null >= 0 else { return nil }
    for number in 0..<Int32(3) where dup2(null, number) != number { return nil }
    guard dup3(high, 3, O_CLOEXEC) == 3, close_range(4, .max, 0) == 0 else { return nil }
    return 3
  }

  private static func resetSignals() {
    for number in 1..<Int32(65) { signal(number, nil) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
    alarm(UInt32(limit / 1000 + 30))
  }

  /// Becomes the user, for good. The memory still holds what the login knew, so no other process of the user's may look
  /// into it, not for a moment.
  private static func become(_ user: borrowing User) -> Bool {
    guard vault_set_not_dumpable() == 0 else { return false }
    if geteuid() == 0 {
      guard unsafe vault_set_groups(user.groupCount, user.groups) == 0, vault_set_gids(user.gid) == 0,
        vault_set_uids(user.uid) == 0
      else { return false }
      // The kernel has set it anew, to what fs.suid_dumpable says.
      guard vault_set_not_dumpable() == 0 else { return false }
      if user.uid != 0, vault_set_uids(0) == 0 { return false }
    }
    var ids: (uid_t, uid_t, uid_t) = (0, 0, 0)
    return unsafe getresuid(&ids.0, &ids.1, &ids.2) == 0 && ids == (user.uid, user.uid, user.uid)
  }
}
