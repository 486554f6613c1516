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
  /// The reason why the settings file was refused; nil if it was not.
  private let doubt: String?
  private let sockets: Sockets
  private let places: SocketPlaces
  private let signals: SignalWatch
  private let openFiles: OpenFiles
  /// The socket's directory, which the daemon holds until it ends; nil when the service manager made the socket.
  private var directory: SocketDirectory?
  private let log: Logger
  private var isReady = false
  /// Watches the places of the socket and of the store's lock.
  private var watch: PlaceWatch?
  /// True once the socket, or the store's lock, was found to have lost its place.
  private var (hasLostSocket, hasLostLock) = (false, false)

  init(
    options: Options, paths: Paths, configuration: Configuration, doubt: String?, sockets: Sockets,
    signals: SignalWatch, openFiles: OpenFiles, directory: consuming SocketDirectory?
  ) {
    self.doubt = doubt
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
        configuration, doubt: doubt)
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
    watchPlaces(assembly, watcher, loop)
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
      assembly.rooms.vault.confirmLock()
    // A sender of a signal gets no answer; the result is in the log and in Status.
    case SIGHUP: _ = try? assembly.reload()
    default: end(assembly, Daemon.Exit.ok)
    }
  }

  /// Watches the places of the socket and of the store's lock, by which others find this daemon. Each change of the
  /// vault's state is a further reason to look, because a store may have been made, and inotify(7) may not be at hand.
  private func watchPlaces(_ assembly: Assembly, _ watcher: DescriptorWatcher, _ loop: any EventLoop) {
    let vault = assembly.rooms.vault
    let (paths, timer) = ([places.first, vault.lockFile].compactMap { $0 }, Timer(on: loop))
    let watch = PlaceWatch(paths, with: watcher, timer, log) { [self] in
      lookForSocket(assembly)
      lookForLock(assembly, timer)
    }
    self.watch = watch
    watch.begin()
    let announce = vault.hooks.announce
    vault.hooks.announce = { event in
      announce(event)
      if case .state = event { loop.assumeIsolated().execute { watch.look() } }
    }
  }

  /// Locks the vault if nobody can reach the daemon at its socket any more: the keys are then of no use, and a
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

  /// Locks the vault if the store's lock has lost its place: `vault lock` cannot find this daemon any more where no
  /// socket leads to it, and another daemon may open the store.
  private func lookForLock(_ assembly: Assembly, _ timer: Timer) {
    let vault = assembly.rooms.vault
    guard vault.hasLostLock else {
      hasLostLock = false
      return
    }
    guard !hasLostLock else { return }
    hasLostLock = true
    vault.lock(because: .displaced)
    // The lock's file may be the first of all files that somebody is removing now.
    _ = timer.after(Timeouts.lostLock) { [self] in endWithoutLock(assembly) }
  }

  /// Ends the daemon if the store's lock is still out of its place, unless the daemon's open files are all that is left
  /// of the store.
  private func endWithoutLock(_ assembly: Assembly) {
    let vault = assembly.rooms.vault
    guard vault.hasLostLock else { return }
    let event = "\(vault.lockFile) was moved, removed or replaced"
    if vault.hasLastCopy {
      return log.error("\(event), with the store; `vault salvage` saves what this daemon still has, until it ends")
    }
    fail("\(event), so another daemon may open the store, and this one ends", assembly, Daemon.Exit.input)
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
