internal import CLinux
internal import CSystemd
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import VaultService

/// A daemon that has its sockets: puts its parts, the server, the timers and the signals together on the loop.
final class Running {
  private let options: Options
  private let paths: Paths
  private let configuration: Configuration
  private let sockets: Sockets
  private let places: SocketPlaces
  private let signals: SignalWatch
  private let openFiles: OpenFiles
  /// The socket's directory, which the daemon holds until it ends; nil when the service manager made the socket.
  private var directory: SocketDirectory?
  private let log: Logger
  private var isReady = false
  /// True once the socket was found to have lost its place.
  private var hasLostSocket = false

  init(
    options: Options, paths: Paths, configuration: Configuration, sockets: Sockets, signals: SignalWatch,
    openFiles: OpenFiles, directory: consuming SocketDirectory?
  ) {
    self.options = options
    self.paths = paths
    self.configuration = configuration
    self.sockets = sockets
    // The service manager may have made its socket elsewhere.
    places = SocketPlaces(
      sockets.isInherited ? [SocketName.path(of: sockets.clients.descriptor)].compactMap { $0 } : paths.sockets)
    self.signals = signals
    self.openFiles = openFiles
    self.directory = consume directory
    log = LogPlace(options.log, file: paths.log).logger(configuration.logLevel)
  }

  /// Starts the daemon. Call this once, on the loop.
  func start(on loop: any EventLoop) {
    let watcher: DescriptorWatcher
    do throws(SystemError) { watcher = try DescriptorWatcher(loop: loop) } catch {
      fail("\(error)", nil, Daemon.Exit.software)
    }
    let assembly: Assembly
    do throws(SystemError) {
      assembly = try Assembly(
        Assembly.Place(
          loop: loop, watcher: watcher, clock: .system, timer: Timer(on: loop), paths: paths, openFiles: openFiles,
          isSystem: options.system, owner: geteuid(),
          administrators: options.system ? Accounts.administrators : nil, log: log, environment: Paths.environment),
        configuration)
    } catch {
      fail("\(error)", nil, Daemon.Exit.software)
    }
    let vault = assembly.rooms.vault
    if vault.isInUse, let problem = vault.problem {
      fail(
        "\(problem): \(paths.store); stop it first, or name another store with --store", assembly, Daemon.Exit.taken)
    }
    vault.holders.onDisobedience = { [self] holders in
      fail(
        "a lock did not wipe everything (\(holders.joined(separator: ", "))), so the daemon ends", assembly,
        Daemon.Exit.software)
    }
    do throws(SystemError) { try watch(assembly, watcher) } catch {
      fail("\(error)", assembly, Daemon.Exit.software)
    }
    do throws(SystemError) {
      try places.watchMounts(with: watcher) { [self] in lookForSocket(assembly) }
    } catch {
      log.warning("if the socket's folder is unmounted, this daemon does not notice it: \(error)")
    }
    watchFolders(assembly, watcher, Timer(on: loop))
    assembly.listen(on: sockets).assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success: announceReady()
      case .failure(let error): fail("cannot accept connections: \(error)", assembly, Daemon.Exit.input)
      }
    }
  }

  /// Begins to watch the timers and the signals.
  private func watch(_ assembly: Assembly, _ watcher: DescriptorWatcher) throws(SystemError) {
    let vault = assembly.rooms.vault
    let timer = try DeadlineTimer(CLOCK_BOOTTIME)
    let clockWatch = try ClockWatch()
    vault.hooks.arm = { timer.arm($0) }
    try watcher.watch(timer.descriptor) {
      timer.drain()
      vault.timerFired()
    }
    try watcher.watch(clockWatch.descriptor) {
      clockWatch.drain()
      vault.checkDeadlines()
    }
    try watcher.watch(signals.descriptor) { [self] in
      while let signal = signals.next() { handle(signal, assembly) }
    }
  }

  private func handle(_ signal: Int32, _ assembly: Assembly) {
    switch signal {
    case SIGUSR1:
      assembly.rooms.vault.lock(because: .signal)
      confirmLock()
    // A sender of a signal gets no answer; the result is in the log and in Status.
    case SIGHUP: _ = try? assembly.reload()
    default: end(assembly, Daemon.Exit.ok)
    }
  }

  /// Gives the lock's file the present time. A program that cannot reach the socket sends the signal, and learns by
  /// this time that the keys are wiped.
  private func confirmLock() {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    // The kernel's own time of a file may be some milliseconds old, and equal to that of an earlier confirmation.
    unsafe utimensat(AT_FDCWD, paths.store + "/vault.lock", [now, now], AT_SYMLINK_NOFOLLOW)
  }

  /// Watches the folders of the socket. The user's other programs may have all instances of inotify(7) now, so a
  /// failure is followed by further attempts.
  private func watchFolders(
    _ assembly: Assembly, _ watcher: DescriptorWatcher, _ timer: Timer, pause: Int64 = Timeouts.leastWatchPause
  ) {
    do throws(SystemError) {
      try places.watchFolders(with: watcher) { [self] in lookForSocket(assembly) }
      if pause > Timeouts.leastWatchPause { log.info("the socket's folder is watched now") }
      lookForSocket(assembly)
    } catch {
      if pause == Timeouts.leastWatchPause {
        log.info("if the socket is removed, this daemon does not notice it yet: \(error)")
      }
      _ = timer.after(pause) { [self] in
        watchFolders(assembly, watcher, timer, pause: min(2 * pause, Timeouts.mostWatchPause))
      }
    }
  }

  /// Locks the vault if nobody can reach the daemon at its socket any more, so that the keys are of no use and a
  /// `vault lock` cannot arrive. A daemon that made the socket itself then ends, and the next command starts another
  /// one. A socket of the service manager is the manager's to replace.
  private func lookForSocket(_ assembly: Assembly) {
    guard let path = places.lost else {
      hasLostSocket = false
      return
    }
    guard !hasLostSocket else { return }
    hasLostSocket = true
    assembly.rooms.vault.lock(because: .unreachable)
    let event = "\(path) was removed or replaced, so nobody can reach this daemon"
    if sockets.isInherited { return log.error("\(event); restart its socket's unit") }
    fail("\(event), and it ends", assembly, Daemon.Exit.input)
  }

  /// Ends the daemon because of an error. Before it is ready, the program that started it waits for the reason, so the
  /// reason is written like every other refusal to start, and not as a line of the log.
  private func fail(_ text: String, _ assembly: Assembly?, _ code: Int32) -> Never {
    if isReady { log.error("\(text)") } else { StandardError.write(text) }
    end(assembly, code)
  }

  /// Ends the process. The keys are wiped first; everything else can wait. The loop is not shut down, because that uses
  /// Dispatch, whose first use takes descriptors and traps when none are left.
  private func end(_ assembly: Assembly?, _ code: Int32) -> Never {
    assembly?.rooms.vault.holders.onDisobedience = { _ in }
    assembly?.wipe()
    _ = unsafe sd_notify(0, "STOPPING=1")
    assembly?.closeConnections()
    assembly?.rooms.vault.closeStore()
    if !sockets.isInherited { places.remove() }
    // The directory's lock is released together with the socket, and not when the kernel takes the process apart,
    // because a program that sees the socket vanish may start another daemon.
    _ = directory.take()
    exit(code)
  }

  private func announceReady() {
    isReady = true
    _ = unsafe sd_notify(0, "READY=1")
    guard let descriptor = options.readyDescriptor else { return }
    var byte: UInt8 = 1
    _ = unsafe write(descriptor, &byte, 1)
    close(descriptor)
  }
}
