internal import CLinux
internal import CSystemd
internal import Glibc

/// The division of the files that the process may have open at once (RLIMIT_NOFILE). Every number that depends on that
/// limit is computed here.
struct OpenFiles: Sendable, Equatable {
  /// The share of the daemon itself: the store, a second store that is made from it, timers, buses, helpers, the
  /// programs of clients that are being read, and the client that is just being accepted.
  private static let own = 48
  /// The largest share of refused clients.
  private static let mostLingering = 64
  /// The limit below which the daemon does not start.
  static let least = 64
  /// The largest limit that the daemon can use.
  static let most =
    own + GivenFiles.mostDescriptors + mostProcesses - 1 + mostLingering + 3 * mostCredentials + 2 * mostSSH
    + mostPortal + Configuration.connectionLimits.upperBound
  /// The most units that may wait for credentials.
  private static let mostCredentials = 256
  /// The most SSH programs that may be connected.
  private static let mostSSH = 128
  /// The most calls of the portal of sandboxed programs that may wait.
  private static let mostPortal = 64
  /// The most clients for whose process a descriptor is kept.
  private static let mostProcesses = 4

  private let limit: Int

  /// - Parameter limit: at least ``least``.
  init(limit: UInt64) { self.limit = min(Int(clamping: limit), Self.most) }

  /// The number of refused clients that may stay connected for a moment, to read the reason.
  var lingering: Int { min(Self.mostLingering, (limit - Self.own) / 4) }

  /// The most clients that may be connected, at most `configured`, with one descriptor each. The descriptor of a
  /// client's process is fetched when a request needs it, and belongs to the daemon's own share.
  func connections(configured: Int) -> Int {
    min(configured, limit - Self.own - given - lingering - (processes - 1) - 3 * credentials - 2 * ssh - portal)
  }

  /// True if messages of the session bus may bring descriptors. Any program can send such messages, so with a low limit
  /// the bus is told to pass none on.
  var takesDescriptors: Bool { limit >= 2048 }

  /// The number of descriptors for the files that messages bring.
  var given: Int { takesDescriptors ? GivenFiles.mostDescriptors : 0 }

  /// The number of units that may wait for credentials. Each takes two descriptors, one of them for its process; as
  /// many refused units may take one descriptor each.
  var credentials: Int { min(Self.mostCredentials, (limit - Self.own) / 12) }

  /// The number of SSH programs that may be connected, with two descriptors each.
  var ssh: Int { min(Self.mostSSH, (limit - Self.own) / 24) }

  /// The number of calls of the portal of sandboxed programs that may wait, each with the descriptor that it came with.
  var portal: Int { min(Self.mostPortal, (limit - Self.own) / 16) }

  /// The number of clients for whose process a descriptor is kept. The first of them belongs to the daemon's own share.
  var processes: Int { limit < 256 ? 1 : Self.mostProcesses }

  /// The limit before the daemon raises it. The daemon's helpers get this limit back, because select(2), and programs
  /// that walk over every possible descriptor number, depend on an ordinary limit.
  static let atStart = current

  private static var current: rlimit {
    var limit = rlimit()
    // The call fails for a resource that the kernel does not know.
    _ = unsafe vault_get_limit(Int32(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }

  /// Raises the limit as far as it is useful and allowed.
  ///
  /// - Throws: an error when the limit stays below ``least``, because the loop and the libraries below it trap when
  ///   they get no descriptor.
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
    // A helper that has already ended needs no limit.
    _ = unsafe vault_set_limit_of(pid, Int32(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Closes descriptors that the process inherited without being told: a lock that a script holds would otherwise be
  /// held for as long as the daemon runs. Descriptors from the service manager and `ready` stay. A closed standard
  /// stream becomes `/dev/null`, because the next file that is opened would get its number, and the lines of the log.
  static func closeOthers(but ready: Int32?) {
    var null: Int32 = 0
    while (0...STDERR_FILENO).contains(null) { null = unsafe open("/dev/null", O_RDWR) }
    if null > STDERR_FILENO { close(null) }
    // SD_LISTEN_FDS_START is a macro: the first inherited descriptor is 3.
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
