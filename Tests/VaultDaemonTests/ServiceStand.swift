import Glibc
import Logging
import NIOCore

@testable import VaultDaemon

extension Service {
  /// A daemon's service without a socket and without clients, with its store at `store`. Call it on `loop`.
  static func stand(
    on loop: any EventLoop, store: String, socket: String, settings: String = "", clock: Clock = .system
  ) throws -> Service {
    var options = Options()
    (options.store, options.socket, options.config) = (store, socket, "/dev/null")
    let paths = try Paths(options: options) { _ in nil }
    let watcher = try Watcher(loop: loop)
    return Service(
      loop: loop, clock: clock, paths: paths, configuration: try Configuration(parsing: settings),
      programs: HelperPrograms(loop: loop, watcher: watcher, ends: HelperEnds()) { _ in nil },
      presenceHelper: PresenceHelper(loop: loop, watcher: watcher, ends: HelperEnds(), paths: paths) { _ in nil },
      openFiles: OpenFiles(limit: 1024), isSystem: false, log: Logger(label: "test"), owner: geteuid())
  }
}
