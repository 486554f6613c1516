import CLinux

/// The process that does an errand as the user, while the login goes on.
///
/// The parent is somebody else's program and must not notice the worker. So a bare clone(2) makes the child, whose end
/// sends no SIGCHLD, and the child leaves its work to a child of its own, so that no zombie stays behind when the
/// parent no longer waits. The parent may have threads that these children lack. Until the children end or become
/// `vaultd`, they take no memory from the heap and call no function that could wait for a lock.
enum Worker {
  /// Milliseconds that a login waits. Argon2id takes about 500, and the start of a daemon takes 50.
  private static let patience: Int64 = 1500
  /// Milliseconds after which the worker itself gives up.
  private static let limit: Int64 = 30_000

  /// Does `errand` for `user` and returns its outcome, or ``Outcome/unfinished`` when it takes too long.
  static func run(_ errand: borrowing Errand, for user: borrowing User) -> Outcome {
    let deadline = Deadline(in: patience)
    var ends: (Int32, Int32) = (-1, -1)
    let made = unsafe withUnsafeMutablePointer(to: &ends) {
      unsafe $0.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe pipe2($0, O_CLOEXEC) }
    }
    guard made == 0 else { return .broken }
    // A signal handler of the parent must not run in the child.
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
    // The limits are reset first, because a low limit of open files leaves no descriptors for `detach`.
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

  /// Leaves the state of the login behind: its terminal, its descriptors and its signal handling. Returns the new
  /// number of `report`, or nil on failure; then the worker must write nothing, because it could write to a descriptor
  /// of the login.
  private static func detach(keeping report: Int32) -> Int32? {
    setsid()
    resetSignals()
    umask(0o077)
    unsafe chdir(("/" as StaticString).cString)
    // The number is above the standard descriptors, which may be closed.
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

  /// Becomes the user, for good. The memory still holds the login's secrets, so no other process of the user may look
  /// into it, not even for a moment.
  private static func become(_ user: borrowing User) -> Bool {
    guard vault_set_not_dumpable() == 0 else { return false }
    if geteuid() == 0 {
      guard unsafe vault_set_groups(user.groupCount, user.groups) == 0, vault_set_gids(user.gid) == 0,
        vault_set_uids(user.uid) == 0
      else { return false }
      // The change of uid reset the flag to the value of fs.suid_dumpable.
      guard vault_set_not_dumpable() == 0 else { return false }
      if user.uid != 0, vault_set_uids(0) == 0 { return false }
    }
    var ids: (uid_t, uid_t, uid_t) = (0, 0, 0)
    return unsafe getresuid(&ids.0, &ids.1, &ids.2) == 0 && ids == (user.uid, user.uid, user.uid)
  }
}
