internal import CLinux
internal import CSystemd
internal import Glibc
internal import Logging
internal import NIOCore
internal import VaultService

/// A connection to a message bus. It is made as soon as the bus is there, and made again after the bus went away.
///
/// It belongs to the event loop: every call into sd-bus is made there, no call blocks, and nothing wakes up while the
/// bus is silent. If the address is a path, inotify reports when a missing bus appears.
@safe final class Bus {
  /// `system` or `session`, for the log and for messages.
  let name: String
  /// True when calls can be made and signals arrive.
  private(set) var isConnected = false
  /// The reason why there is no connection, if more is known than that nobody listens.
  private(set) var problem: String?

  /// The address from the daemon's own environment; nil if that has none.
  private let ownAddress: BusAddress?
  /// The files that come with messages.
  let files: GivenFiles
  /// The bus that the daemon was asked to join; nil once the connection to that bus has ended.
  private var joined: Joining?
  private let takesDescriptors: Bool
  private let loop: any EventLoop
  let watcher: DescriptorWatcher
  private let clock: Clock
  private let log: Logger
  private let timer: DeadlineTimer
  private(set) var connection: OpaquePointer?
  private var descriptor: Int32?
  private var listeners: [() -> Void] = []
  private var parts: [any BusPart] = []
  /// True while messages are dispatched.
  private var isProcessing = false
  /// Work for the time when the socket has taken all that was sent.
  private var whenTaken: [() -> Void] = []
  private var calls: [ObjectIdentifier: BusCall] = [:]
  /// Closures that make the calls which came before the bus had answered the greeting.
  private var early: [() -> Void] = []
  private var retry = Retry()

  /// A bus to join.
  private struct Joining {
    let address: BusAddress
    /// Gets the result of the attempt, once.
    var then: ((Bool) -> Void)?
  }

  /// The times of the attempts to connect, in nanoseconds of `CLOCK_MONOTONIC`.
  private struct Retry {
    /// The time of the next attempt; nil while no attempt is due.
    var at: Int64?
    /// The time for which the timer is armed.
    var armed: Int64?
    var connectedAt: Int64 = 0
    /// The pause before the next attempt.
    var delay = Bus.shortestDelay
  }

  /// The time after which the loop looks at its other sockets, in nanoseconds.
  private static let longestRound: Int64 = 5_000_000
  private static let shortestDelay: Int64 = 100_000_000
  private static let longestDelay: Int64 = 60_000_000_000

  /// Makes a bus, without connecting. Call this on `loop`, and call ``open()`` once every listener for connection
  /// changes is added.
  ///
  /// - Parameters:
  ///   - address: nil if there is no bus until ``join(_:then:)``.
  ///   - takesDescriptors: false if the bus is to pass on no message with descriptors.
  init(
    _ name: String, at address: BusAddress?, on loop: any EventLoop, watcher: DescriptorWatcher, clock: Clock,
    log: Logger, takesDescriptors: Bool = true
  ) throws(SystemError) {
    self.name = name
    self.takesDescriptors = takesDescriptors
    ownAddress = address
    self.loop = loop
    self.watcher = watcher
    self.clock = clock
    self.log = log
    files = try GivenFiles(on: loop)
    timer = try DeadlineTimer(CLOCK_MONOTONIC)
    try watcher.watch(timer.descriptor) { [weak self] in self?.timerFired() }
  }

  deinit {
    disconnect()
    watcher.forget(timer.descriptor)
    Glibc.close(timer.descriptor)
  }

  /// Adds a listener that runs each time the connection appears or disappears.
  func onChange(_ listener: @escaping () -> Void) { listeners.append(listener) }

  // MARK: Calls and signals

  /// Calls a method; `then` gets the reply, later and exactly once. A call waits for a bus that listens but has not
  /// answered the greeting yet; otherwise a daemon that has just started would report that there is no bus.
  ///
  /// - Parameters:
  ///   - starts: true if the bus may start the service for this call.
  ///   - limit: the time after which the call fails.
  func call(
    _ method: BusMethod, _ arguments: [BusValue] = [], starts: Bool = true, limit: TimeAmount = .seconds(5),
    then: @escaping (Result<BusMessage, BusError>) -> Void
  ) {
    let call = BusCall(then)
    guard isConnected || isGreeting else {
      return loop.assumeIsolated().execute { call.finish(.failure(.disconnected)) }
    }
    let id = ObjectIdentifier(call)
    calls[id] = call
    call.onEnd = { [weak self] in self?.calls[id] = nil }
    if isConnected { return send(call, method, arguments, starts: starts, limit: limit) }
    let deadline = NIODeadline.now() + limit
    let end = loop.assumeIsolated().scheduleTask(in: limit) { call.finish(.failure(.disconnected)) }
    early.append { [weak self] in
      end.cancel()
      guard !call.isOver else { return }
      let rest = max(deadline - .now(), .milliseconds(1))
      self?.send(call, method, arguments, starts: starts, limit: rest)
    }
  }

  /// True when the bus listens and has not answered the greeting yet. While nobody listens, the watched descriptor is
  /// not a socket.
  var isGreeting: Bool {
    guard unsafe connection != nil, !isConnected, let descriptor else { return false }
    return sd_is_socket(descriptor, AF_UNIX, 0, -1) > 0
  }

  private func send(_ call: BusCall, _ method: BusMethod, _ arguments: [BusValue], starts: Bool, limit: TimeAmount) {
    guard let connection = unsafe connection else { return call.finish(.failure(.disconnected)) }
    call.again = { [weak self, weak call] in
      if let self, let call { send(call, method, arguments, starts: starts, limit: limit) }
    }
    let result = unsafe call.send(method, arguments, starts: starts, limit: limit, on: connection)
    if result < 0 {
      let error = BusError(name: "", text: "\(SystemError(call: method.member, code: -result))")
      return loop.assumeIsolated().execute { call.finish(.failure(error)) }
    }
    sent()
  }

  /// Runs `work` on the loop after this time, on whatever connection there is then.
  func after(_ delay: TimeAmount, _ work: @escaping () -> Void) {
    loop.assumeIsolated().scheduleTask(in: delay, work)
  }

  /// Runs `handler` for each message that matches `rule`, on this connection and on later ones.
  ///
  /// The `sender` in a rule proves nothing, because a message addressed to this connection bypasses the bus's own
  /// filter. ``BusName`` checks the sender.
  func match(_ rule: String, _ handler: @escaping (BusMessage) -> Void) { add(BusMatch(rule, handler)) }

  /// Sets up a part of the connection now, and on each later connection.
  func add(_ part: any BusPart) {
    parts.append(part)
    guard let connection = unsafe connection, isConnected else { return }
    unsafe part.install(on: connection)
    sent()
  }

  /// Takes down a part of the connection.
  func remove(_ part: any BusPart) {
    parts.removeAll { $0 === part }
    part.remove()
    sent()
  }

  /// Runs `work` once the socket has taken all that was sent until now, or the connection is lost.
  func whenTaken(_ work: @escaping () -> Void) {
    guard let connection = unsafe connection, isConnected, unsafe isSending(connection) else { return work() }
    whenTaken.append(work)
  }

  private func isSending(_ connection: OpaquePointer) -> Bool {
    let events = unsafe sd_bus_get_events(connection)
    return events > 0 && events & Int32(POLLOUT) != 0
  }

  private func noteTaken() {
    let works = whenTaken
    whenTaken = []
    for work in works { work() }
  }

  /// Notes that messages were sent, which the socket may not have taken yet.
  func sent() { if isConnected, !isProcessing { refresh() } }

  // MARK: The connection

  /// The address of the bus; nil if there is none.
  var address: BusAddress? { joined?.address ?? ownAddress }

  /// Joins another bus, in place of one that is not there. When the connection ends, that bus is forgotten, because
  /// another user may listen at its address later.
  ///
  /// - Parameter then: gets true once the bus is connected, and false if it cannot be.
  func join(_ address: BusAddress, then: @escaping (Bool) -> Void) {
    guard !isConnected, joined == nil else { return loop.assumeIsolated().execute { then(false) } }
    disconnect()
    joined = Joining(address: address, then: then)
    retry.delay = Bus.shortestDelay
    open()
  }

  /// Ends an attempt to join a bus that has not answered.
  func giveUpJoining() { if joined != nil, !isConnected { lost(nil) } }

  private func endJoining(_ isConnected: Bool) {
    guard let then = joined?.then else { return }
    joined?.then = nil
    loop.assumeIsolated().execute { then(isConnected) }
  }

  /// Begins to connect. The rest happens in callbacks.
  func open() {
    retry.at = nil
    guard let address else { return }
    var made: OpaquePointer?
    var result = unsafe sd_bus_new(&made)
    unsafe connection = unsafe made
    if let made = unsafe made {
      result = unsafe start(made, address)
    }
    guard result >= 0 else { return lost(SystemError(call: "connect", code: -result)) }
    refresh()
  }

  private func start(_ connection: OpaquePointer, _ address: BusAddress) -> Int32 {
    let steps: [() -> Int32] = [
      { unsafe sd_bus_set_address(connection, address.text) },
      { unsafe sd_bus_set_bus_client(connection, 1) },
      { unsafe sd_bus_negotiate_fds(connection, self.takesDescriptors ? 1 : 0) },
      // A bus that is to be joined must exist already, so nothing waits for its socket.
      { unsafe sd_bus_set_watch_bind(connection, self.joined == nil ? 1 : 0) },
      { unsafe sd_bus_start(connection) },
    ]
    for step in steps {
      let result = step()
      if result < 0 { return result }
    }
    return 0
  }

  /// Lets sd-bus read, write and dispatch. After 64 messages, or ``longestRound``, it lets the loop look at its sockets
  /// first, so that a flood of messages holds nobody up.
  private func process() {
    guard let connection = unsafe connection, !isProcessing else { return }
    isProcessing = true
    unsafe dispatch(connection)
    isProcessing = false
    // sd-bus asks for another call at once if it has read further messages.
    if unsafe self.connection == connection { refresh() }
  }

  private func dispatch(_ connection: OpaquePointer) {
    let end = clock.monotonic() + Self.longestRound
    for _ in 0..<64 {
      unsafe files.watch(sd_bus_get_fd(connection))
      let result = unsafe sd_bus_process(connection, nil)
      files.sweep()
      // A handler may have ended this connection.
      guard unsafe self.connection == connection else { return }
      if result < 0 { return lost(SystemError(call: "process", code: -result)) }
      if unsafe sd_bus_is_open(connection) <= 0 { return lost(nil) }
      if !isConnected, unsafe sd_bus_is_ready(connection) > 0 { unsafe connected(connection) }
      guard unsafe self.connection == connection else { return }
      if result == 0 || clock.monotonic() >= end { return }
    }
  }

  private func connected(_ connection: OpaquePointer) {
    if joined != nil, unsafe BusAddress.owner(of: sd_bus_get_fd(connection)) != geteuid() { return lost(nil) }
    isConnected = true
    problem = nil
    retry.at = nil
    retry.connectedAt = timer.now
    log.debug("connected to the \(name) bus")
    for part in parts { unsafe part.install(on: connection) }
    for listener in listeners { listener() }
    let waiting = early
    early = []
    for send in waiting { send() }
    endJoining(true)
  }

  /// Handles a connection that broke or could not be made: fails the waiting calls, and schedules another attempt. The
  /// pause grows as long as connections do not last.
  private func lost(_ error: SystemError?) {
    let now = timer.now
    let was = isConnected
    if was && now - retry.connectedAt > retry.delay { retry.delay = Bus.shortestDelay }
    problem = error.map { "\($0)" }
    disconnect()
    endJoining(false)
    joined = nil
    retry.at = ownAddress == nil ? nil : now + retry.delay
    retry.delay = min(retry.delay * 2, Bus.longestDelay)
    rearm(nil)
    guard was else { return }
    log.debug("the \(name) bus went away")
    for listener in listeners { listener() }
  }

  private func disconnect() {
    guard let connection = unsafe connection else { return }
    unsafe self.connection = nil
    isConnected = false
    if let descriptor { watcher.forget(descriptor) }
    descriptor = nil
    for part in parts { part.remove() }
    early = []
    // This does not wait; unsent messages are dropped.
    unsafe sd_bus_close_unref(connection)
    files.watch(-1)
    files.sweep()
    noteTaken()
    for call in Array(calls.values) { call.finish(.failure(.disconnected)) }
  }

  private func timerFired() {
    timer.drain()
    retry.armed = nil
    if let retryAt = retry.at, retryAt <= timer.now {
      disconnect()
      open()
    } else {
      process()
    }
  }

  /// Watches for the events that sd-bus waits for now.
  private func refresh() {
    guard let connection = unsafe connection else { return }
    let current = unsafe sd_bus_get_fd(connection)
    let events = unsafe sd_bus_get_events(connection)
    var due = UInt64.max
    guard unsafe current >= 0 && events >= 0 && sd_bus_get_timeout(connection, &due) >= 0 else { return lost(nil) }
    if events & Int32(POLLOUT) == 0, !whenTaken.isEmpty { noteTaken() }
    if let descriptor, descriptor != current { watcher.forget(descriptor) }
    descriptor = current
    do throws(SystemError) {
      // The flags of poll(2) and epoll(7) have the same values.
      let readiness = DescriptorWatcher.Readiness(rawValue: UInt32(events))
      try watcher.watch(current, for: readiness) { [weak self] in self?.ready() }
    } catch {
      return lost(error)
    }
    // `due` is in microseconds of the timer's clock.
    rearm(due == .max ? nil : Int64(clamping: due) &* 1000)
  }

  private func ready() {
    process()
    // The socket's directory changed, and nobody listens yet. The change may have been seen between bind(2) and
    // listen(2), and listen(2) changes no directory. So the bus is tried once more a second later.
    guard !isConnected, retry.at == nil, let descriptor, sd_is_socket(descriptor, AF_UNIX, 0, -1) <= 0 else { return }
    retry.at = timer.now + 1_000_000_000
    refresh()
  }

  private func rearm(_ due: Int64?) {
    let next = [due, retry.at].compactMap { $0 }.min()
    guard next != retry.armed else { return }
    retry.armed = next
    timer.arm(next)
  }
}
