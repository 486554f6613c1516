internal import CLinux
internal import Glibc
internal import Logging
internal import VaultBytes
internal import VaultProcess
internal import VaultService
internal import VaultWire

/// The handover of the session bus, by a daemon that the bus has started, to another daemon that already serves the
/// vault.
///
/// A client may have started the other daemon where there was no session bus, as over ssh or from cron. The two share a
/// vault, so only the other daemon can serve the bus.
struct BusHandover {
  /// The time that another daemon, which starts at the same moment, may take until it listens, in milliseconds.
  static let patience = 5000
  /// The time in which the other daemon must answer, in milliseconds: longer than that daemon waits for the bus.
  private static let limit = 10_000

  private let socket: String
  private let address: BusAddress?

  init(_ paths: Paths) {
    socket = paths.socket
    address = BusAddress.session(Self.environment)
  }

  /// Reads the environment, and finds the value of `XDG_RUNTIME_DIR` itself if the bus does not pass it on.
  static func environment(_ name: String) -> String? {
    Paths.environment(name) ?? (name == "XDG_RUNTIME_DIR" ? RuntimeDirectory.found() : nil)
  }

  /// The failure of a daemon that the bus started although the settings do not want it.
  static func isOff(_ paths: Paths) -> Daemon.Failure {
    Daemon.Failure(
      code: Daemon.Exit.configuration,
      text: "secret-service is off in \(paths.config), but the bus starts this daemon for it; "
        + "`vault secret-service enable` turns it on, `vault secret-service disable` stops the bus from starting it")
  }

  /// Hands the bus over; false if no other daemon listens.
  ///
  /// - Parameter patience: the time to wait for one, in milliseconds.
  /// - Throws: the reason why the other daemon does not serve the bus. It is in the log as well, because nobody reads
  ///   the standard error of what a bus starts.
  func run(_ options: Options, patience: Int = 0) throws(Daemon.Failure) -> Bool {
    var connected = SocketName.connected(to: Array(socket.utf8))
    let end = Self.now() + patience
    while connected == nil, Self.now() < end {
      usleep(20_000)
      connected = SocketName.connected(to: Array(socket.utf8))
    }
    guard let connected else { return false }
    defer { close(connected) }
    do throws(Daemon.Failure) {
      try hand(over: connected)
      return true
    } catch {
      let paths = try? Paths(options: options, environment: Self.environment)
      LogPlace(options.log, file: paths?.log).logger(.info).error("\(error.text)")
      throw error
    }
  }

  private func hand(over connected: Int32) throws(Daemon.Failure) {
    guard BusAddress.owner(of: connected) == geteuid() else { throw failure("belongs to another user") }
    guard let address = address?.text.split(separator: ";").first else {
      throw failure(
        "cannot be told the address of the bus, because DBUS_SESSION_BUS_ADDRESS does not name a Unix socket")
    }
    var writer = JSONWriter()
    writer.call(.joinBus) { Wire.JoinBusParameters(address: String(address)).write(to: &$0) }
    let end = Self.now() + Self.limit
    guard send(writer.take(), connected, until: end) else { throw failure("does not listen") }
    var reader = FrameReader(ignoresUnknownMembers: true)
    do {
      while true {
        if let frame = try reader.next() { return try read(frame) }
        guard let bytes = Self.receive(connected, until: end) else { throw failure("does not answer") }
        try bytes.withBytes { bytes throws(FrameError) in try reader.append(bytes) }
      }
    } catch let error as Daemon.Failure {
      throw error
    } catch {
      throw failure("does not answer as a vaultd does")
    }
  }

  private func read(_ frame: borrowing Frame) throws {
    let reply = try Reply(frame)
    guard let name = reply.error else { return }
    let fault = try Fault(frame, error: name, reply.parameters)
    throw failure("does not serve this session: \(fault.words().journal)")
  }

  private func failure(_ reason: String) -> Daemon.Failure {
    Daemon.Failure(code: Daemon.Exit.unavailable, text: "the vaultd at \(socket) \(reason)")
  }

  // MARK: Bytes

  /// Milliseconds of `CLOCK_MONOTONIC`.
  private static func now() -> Int { Int(Clock.system.monotonic() / 1_000_000) }

  private static func isReady(_ descriptor: Int32, _ events: Int32, until end: Int) -> Bool {
    while true {
      var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      let ready = unsafe poll(&polled, 1, Int32(clamping: max(0, end - now())))
      if ready >= 0 || errno != EINTR { return ready > 0 }
    }
  }

  private func send(_ message: consuming SecretBuffer, _ descriptor: Int32, until end: Int) -> Bool {
    var sent = 0
    while sent < message.count {
      guard Self.isReady(descriptor, POLLOUT, until: end) else { return false }
      let count = message.withBytes { bytes in
        let rest = bytes.extracting(droppingFirst: sent)
        // The bytes are valid for the call.
        return unsafe rest.withUnsafeBytes {
          unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
      }
      if count > 0 { sent += count } else if errno != EAGAIN, errno != EINTR { return false }
    }
    return true
  }

  /// The next bytes; nil at the end of the connection or of the time.
  private static func receive(_ descriptor: Int32, until end: Int) -> SecretBuffer? {
    while isReady(descriptor, POLLIN, until: end) {
      var bytes = [UInt8](repeating: 0, count: 4096)
      // recv(2) writes no more than the array's count.
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      guard count > 0 else {
        if count < 0, errno == EAGAIN || errno == EINTR { continue }
        return nil
      }
      var buffer = SecretBuffer()
      buffer.append(unsafe bytes.span.bytes.extracting(0..<count))
      return buffer
    }
    return nil
  }
}
