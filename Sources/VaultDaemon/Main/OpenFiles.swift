internal import CLinux
internal import CSystemd
internal import Glibc

/// The shares in the files that the process may have open at once (RLIMIT_NOFILE): every number that hangs on that
/// limit is made here.
struct OpenFiles: Sendable, Equatable {
  /// For the daemon itself: the store and another one that is made from it, timers, buses, helpers, and the client that is
  /// just being accepted.
  private static let own = 48
  /// The most that refused clients get.
  private static let mostLingering = 64
  /// With fewer the daemon does not start.
  static let least = 64
  /// With more it could do nothing.
  static let most =
    own + mostProcesses - 1 + mostLingering + 3 * mostCredentials + 2 * mostSSH
    + Configuration.connectionLimits.upperBound
  /// The most units that may wait for credentials.
  private static let mostCredentials = 256
  /// The most of SSH's programs that may be connected.
  private static let mostSSH = 128
  /// The most clients whose process stays at hand.
  private static let mostProcesses = 4

  private let limit: Int

  /// - Parameter limit: at least ``least``.
  init(limit: UInt64) { self.limit = min(Int(clamping: limit), Self.most) }

  /// The number of refused clients that may stay connected for a moment, to read why.
  var lingering: Int { min(Self.mostLingering, (limit - Self.own) / 4) }

  /// The number of clients that may be connected of the `configured` ones, with one descriptor each: that of its process
  /// is fetched when a request needs it, and belongs to the daemon's own.
  func connections(configured: Int) -> Int {
    min(configured, limit - Self.own - lingering - (processes - 1) - 3 * credentials - 2 * ssh)
  }

  /// The number of units that may wait for credentials: two descriptors each, that of its process too, and one for as many that
  /// are refused.
  var credentials: Int { min(Self.mostCredentials, (limit - Self.own) / 12) }

  /// The number of SSH's programs that may be connected: two descriptors each.
  var ssh: Int { min(Self.mostSSH, (limit - Self.own) / 24) }

  /// The number of clients whose process stays at hand: the first one of them belongs to the daemon's own.
  var processes: Int { limit < 256 ? 1 : Self.mostProcesses }

  /// The limit before it is raised, for its helpers: select(2), and programs that go over all the numbers there can be,
  /// count on an ordinary one.
  static let atStart = current

  private static var current: rlimit {
    var limit = rlimit()
    // It fails for a resource that the kernel does not know.
    _ = unsafe vault_get_limit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }

  /// Raises the limit as far as it is of use and the process may.
  ///
  /// - Throws: when it is below ``least`` all the same: the loop and the libraries below it trap where they get no descriptor.
  static func raise() throws(Daemon.Failure) -> OpenFiles {
    var limit = atStart
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(most)))
    if limit.rlim_cur != atStart.rlim_cur { _ = unsafe vault_set_limit(Int32(RLIMIT_NOFILE.rawValue), &limit) }
    let count = current.rlim_cur
    guard count >= least else {
      throw Daemon.Failure(
        code: Daemon.Exit.configuration,
        text: "the limit of open files is \(count), and \(least) are needed; raise it with `ulimit -Hn` or LimitNOFILE="
      )
    }
    return OpenFiles(limit: UInt64(count))
  }

  /// Gives the helper `pid` the limit that this process had before it raised its own.
  static func restoreLimit(of pid: pid_t) {
    var limit = atStart
    // One that has ended already needs none.
    _ = unsafe vault_set_limit_of(pid, Int32(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Closes what the process was handed and not told of: a lock that a script holds would be held for as long as the daemon
  /// runs. What the service manager handed over stays, and `ready`; a standard stream that is closed becomes `/dev/null`,
  /// because what is opened next would get its number, and the log's lines.
  static func closeOthers(but ready: Int32?) {
    var null: Int32 = 0
    while (0...STDERR_FILENO).contains(null) { null = unsafe open("/dev/null", O_RDWR) }
    if null > STDERR_FILENO { close(null) }
    // SD_LISTEN_FDS_START is a macro: the first descriptor handed over is 3.
    let handed = max(0, sd_listen_fds(0))
    var kept = Set(3..<3 + handed)
    if let ready, ready > STDERR_FILENO { kept.insert(ready) }
    var next: UInt32 = 3
    for descriptor in kept.sorted().map(UInt32.init) {
      if descriptor > next { close_range(next, descriptor - 1, 0) }
      next = descriptor + 1
    }
    close_range(next, .max, 0)
  }
}
