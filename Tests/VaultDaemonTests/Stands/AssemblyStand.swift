import Glibc
import Logging
import NIOCore

@testable import VaultDaemon
@testable import VaultService

extension Assembly {
  /// Makes a daemon without a socket and without clients, with its store at `store` and its own environment. Must be
  /// called on `loop`.
  static func stand(
    on loop: any EventLoop, store: String, socket: String, settings: String = "", clock: Clock = .system,
    timer: VaultService.Timer? = nil, administrators: UInt32? = nil, environment: [String: String] = [:],
    openFiles: UInt64 = 1024
  ) throws -> Assembly {
    var options = Options()
    (options.store, options.socket, options.config) = (store, socket, "/dev/null")
    let paths = try Paths(options: options) { _ in nil }
    return try Assembly(
      Place(
        loop: loop, watcher: try DescriptorWatcher(loop: loop), clock: clock, timer: timer ?? Timer(on: loop),
        paths: paths, openFiles: OpenFiles(limit: openFiles), isSystem: false, owner: geteuid(),
        administrators: administrators, log: Logger(label: "test"),
        environment: { environment[$0] }),
      try Configuration(parsing: settings))
  }
}
