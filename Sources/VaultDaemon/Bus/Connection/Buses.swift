internal import Logging
internal import NIOCore
internal import VaultService

/// The buses that the daemon uses; a bus is nil when its address is not a Unix socket.
struct Buses {
  let system: Bus?
  /// The user's session bus; the daemon of the machine's vault has none.
  let session: Bus?

  init(
    on loop: any EventLoop, _ watcher: DescriptorWatcher, _ clock: Clock, _ log: Logger, system isSystem: Bool,
    environment: (String) -> String?
  ) throws(SystemError) {
    func bus(_ name: String, _ address: BusAddress?) throws(SystemError) -> Bus? {
      guard let address else { return nil }
      return try Bus(name, at: address, on: loop, watcher: watcher, clock: clock, log: log)
    }
    system = try bus("system", .system(environment))
    session = isSystem ? nil : try bus("session", .session(environment))
  }
}
