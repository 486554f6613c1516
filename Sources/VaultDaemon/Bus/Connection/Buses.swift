internal import Logging
internal import NIOCore
internal import VaultService

/// The buses that the daemon uses.
struct Buses {
  /// Nil when its address is not a Unix socket.
  let system: Bus?
  /// The user's session bus, which may have no address yet; nil for the machine's vault, which has none.
  let session: Bus?

  init(
    on loop: any EventLoop, _ watcher: DescriptorWatcher, _ clock: Clock, _ log: Logger, system isSystem: Bool,
    _ openFiles: OpenFiles, environment: (String) -> String?
  ) throws(SystemError) {
    func bus(_ name: String, _ address: BusAddress?, takesDescriptors: Bool = true) throws(SystemError) -> Bus {
      try Bus(
        name, at: address, on: loop, watcher: watcher, clock: clock, log: log, takesDescriptors: takesDescriptors)
    }
    // The system bus must pass on descriptors, because the inhibitor of logind is one.
    let address = BusAddress.system(environment)
    system = address == nil ? nil : try bus("system", address)
    session = isSystem ? nil : try bus("session", .session(environment), takesDescriptors: openFiles.takesDescriptors)
  }
}
