internal import CLinux
internal import CSystemd
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix

/// A daemon that has its socket: puts the service, the server, the timers and the signals together on the loop.
final class Running {
  private let options: Options
  private let paths: Paths
  private let configuration: Configuration
  private let socket: ListeningSocket
  private let signals: SignalWatch
  private let openFiles: OpenFiles
  /// The socket's directory, which is the daemon's to its end; nil where the service manager has made the socket.
  private var directory: SocketDirectory?
  private let log: Logger

  init(
    options: Options, paths: Paths, configuration: Configuration, socket: ListeningSocket, signals: SignalWatch,
    openFiles: OpenFiles, directory: consuming SocketDirectory?
  ) {
    self.options = options
    self.paths = paths
    self.configuration = configuration
    self.socket = socket
    self.signals = signals
    self.openFiles = openFiles
    self.directory = consume directory
    log = StandardError.logger(configuration.logLevel)
  }

  /// Called once, on the loop.
  func start(on loop: any EventLoop) {
    let watcher: Watcher
    do throws(SystemError) { watcher = try Watcher(loop: loop) } catch {
      log.error("\(error)")
      end(nil, Daemon.Exit.software)
    }
    let ends = HelperEnds()
    let service = Service(
      loop: loop, clock: .system, paths: paths, configuration: configuration,
      programs: HelperPrograms(loop: loop, watcher: watcher, ends: ends, variable: Paths.environment),
      presenceHelper: PresenceHelper(
        loop: loop, watcher: watcher, ends: ends, paths: paths, variable: Paths.environment),
      openFiles: openFiles, isSystem: options.system, log: log, owner: geteuid())
    if case .unreadable(let error) = service.vault.content, error.isInUse {
      log.error("\(error.text): \(paths.store); stop it first, or name another store with --store")
      end(service, Daemon.Exit.taken)
    }
    do {
      let timer = try DeadlineTimer(CLOCK_BOOTTIME)
      let clockWatch = try ClockWatch()
      service.arm = { timer.arm($0) }
      try watcher.watch(timer.descriptor) {
        timer.drain()
        service.timerFired()
      }
      try watcher.watch(clockWatch.descriptor) {
        clockWatch.drain()
        service.checkDeadlines()
      }
      service.triggers = try LockTriggers(
        for: service, watcher: watcher, system: options.system, uid: geteuid(), environment: Paths.environment)
      try watcher.watch(signals.descriptor) { [self] in
        while let signal = signals.next() { handle(signal, service) }
      }
    } catch {
      log.error("\(error)")
      end(service, Daemon.Exit.software)
    }
    Server.start(socket, service: service, loop: loop).assumeIsolated().whenComplete { [self] result in
      switch result {
      case .success: announceReady()
      case .failure(let error):
        log.error("cannot accept connections: \(error)")
        end(service, Daemon.Exit.input)
      }
    }
  }

  private func handle(_ signal: Int32, _ service: Service) {
    switch signal {
    case SIGUSR1: service.lock(because: .signal)
    case SIGHUP:
      do throws(Daemon.Failure) {
        service.reconfigure(try Daemon.settings(paths))
        log.info("settings read again")
      } catch {
        log.error("settings unchanged: \(error.text)")
      }
    default: end(service, Daemon.Exit.ok)
    }
  }

  /// Wipes the keys first; everything else can wait. It ends the process and not the loop, which goes by way of Dispatch for
  /// that: its first use takes descriptors, and traps where there are none left.
  private func end(_ service: Service?, _ code: Int32) -> Never {
    service?.wipe()
    _ = unsafe sd_notify(0, "STOPPING=1")
    service?.closeConnections()
    service?.closeStore()
    if !socket.isInherited { unsafe unlink(paths.socket) }
    // Its lock goes with the socket, and not when the kernel has taken the process apart: who sees the socket vanish may
    // start another daemon.
    _ = directory.take()
    exit(code)
  }

  private func announceReady() {
    _ = unsafe sd_notify(0, "READY=1")
    guard let descriptor = options.readyDescriptor else { return }
    var byte: UInt8 = 1
    _ = unsafe write(descriptor, &byte, 1)
    close(descriptor)
  }
}
