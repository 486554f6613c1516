internal import CLinux
internal import Glibc
public import VaultBytes
public import VaultWire

/// One connection to a daemon that was checked, used by one thread at a time.
///
/// Every operation has a time limit, except waits that the caller asks for. After any failure a connection must not be
/// used again. Writes never raise SIGPIPE.
public final class Connection {
  /// The time limit for an answer for which the daemon does not wait for anything.
  public static let defaultTimeout = Duration.seconds(30)
  /// The time to keep trying while nobody listens, as when the daemon restarts.
  public static let defaultPatience = Duration.seconds(2)
  /// The least time to wait for a daemon whose queue of clients is full.
  private static let leastBusyPatience = Duration.seconds(1)
  private static let chunk = 16 << 10

  let socket: Descriptor
  private let interrupt: Interrupt?
  /// A descriptor that ends every wait with ``Fault/cancelled`` once it is readable.
  var cancellation: Int32?
  /// The check for a daemon that is silent for long; nil if only the deadline counts.
  var signOfLife: SignOfLife?
  var reader = FrameReader(ignoresUnknownMembers: true)
  /// Raw bytes that arrived after the last frame.
  var rest = SecretBuffer()
  private var scratch = SecretBuffer()
  /// True when any byte of the answer to the last request has arrived.
  private(set) var hasHeard = false
  /// False when the daemon cannot have received the whole last request, and so has not carried it out: the daemon went
  /// away before everything was sent, or with a part still unread.
  private(set) var mayHaveArrived = false

  /// Checks the server at `location` and connects.
  ///
  /// While nobody listens it keeps trying until `patience` is over. While the daemon's queue of clients is full it
  /// keeps trying for a second at least, because the daemon is there.
  ///
  /// - Throws: ``ClientError/noDaemon(_:)`` when nobody listened in time, ``ClientError/timedOut`` when the queue
  ///   stayed full, and ``ClientError/unsafeSocket(_:)`` at once
  ///   when the directory, the socket or its owner is not as it should be.
  public convenience init(
    to location: SocketLocation, patience: Duration = Connection.defaultPatience
  ) throws(ClientError) {
    try self.init(to: location, patience: patience, interrupt: nil)
  }

  /// Connects as the public initializer does.
  ///
  /// - Parameters:
  ///   - busyPatience: the time to keep trying while the daemon's queue of clients is full, a second at least; nil for
  ///     `patience`.
  ///   - retrying: called before each wait for a daemon that is not there.
  init(
    to location: SocketLocation, patience: Duration, whileBusy busyPatience: Duration? = nil, interrupt: Interrupt?,
    retrying: () -> Void = {}
  ) throws(ClientError) {
    let deadline = Deadline(after: patience)
    let busyDeadline = Deadline(after: max(busyPatience ?? patience, Self.leastBusyPatience))
    var pause = Duration.milliseconds(2)
    self.interrupt = interrupt
    scratch.append(count: Connection.chunk) { _ in }
    while true {
      let busy: Bool
      switch try ServerCheck.connect(to: location) {
      case .connected(let socket):
        self.socket = socket
        return
      case .nobodyThere: busy = false
      case .busy: busy = true
      }
      // Neither waiting nor starting a daemon would help.
      if !busy, let problem = location.problem { throw .impossibleSocket(problem, remedy: location.remedy) }
      if (busy ? busyDeadline : deadline).hasPassed { throw busy ? .timedOut : .noDaemon(location.path) }
      retrying()
      try Connection.wait(for: 0, on: nil, until: deadline.orAfter(pause), interrupt)
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Calls `method` with the one object that `parameters` writes, and returns the frame of its one reply.
  ///
  /// ``Vault`` has a typed function for every method and reconnects if needed; this function is for everything else.
  ///
  /// - Throws: ``ClientError``; an error from the daemon is ``ClientError/fault(_:)``.
  public func call(
    _ method: MethodName, timeout: Duration? = Connection.defaultTimeout, parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> Frame {
    let deadline = Deadline(after: timeout)
    try send(try KeptConnection.message(method, more: false, parameters), until: deadline)
    let response = try receiveOnly(until: deadline)
    return response.frame
  }

  /// Receives the one reply to a call that was sent.
  func receiveOnly(until deadline: Deadline) throws(ClientError) -> Response {
    let response = try Response(from: self, until: deadline)
    if response.reply.continues { throw .protocolViolation("more replies than asked for") }
    return response
  }

  /// True when the daemon has hung up in the meantime, or has sent bytes without a call.
  var isStale: Bool {
    var byte: UInt8 = 0
    let result = unsafe recv(socket.number, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return result >= 0 || (errno != EAGAIN && errno != EINTR) || reader.pendingCount > 0
  }

  /// Sends whole messages, each with its NUL, until `deadline`.
  func send(_ messages: borrowing SecretBuffer, until deadline: Deadline) throws(ClientError) {
    (hasHeard, mayHaveArrived) = (false, false)
    var sent = 0
    while sent < messages.count {
      let result = messages.withBytes { bytes in
        // The pointer is valid during the call, which only reads.
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe Glibc.send(
            socket.number, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
      }
      if result >= 0 {
        sent += result
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try wait(for: POLLOUT, until: deadline)
      // The daemon may have sent the reason before it hung up, so the reading decides.
      case EPIPE, ECONNRESET: return
      default: throw .system("send", errno: errno)
      }
    }
    mayHaveArrived = true
  }

  /// Returns the next message, and waits for it until `deadline`.
  ///
  /// - Throws: ``ClientError/disconnected`` when the daemon hangs up first, ``ClientError/timedOut``, and
  ///   ``ClientError/protocolViolation(_:)`` for bytes that are not a frame or for a frame above 2 MiB.
  func receive(until deadline: Deadline) throws(ClientError) -> Frame {
    while true {
      if let frame = try takeFrame() { return frame }
      let (count, code) = try receiveBytes()
      if count <= 0 { try waitToReceive(after: count, code, until: deadline) }
    }
  }

  /// Returns the next message if all of it has arrived; nil otherwise.
  ///
  /// - Throws: as ``receive(until:)`` does.
  func receiveArrived() throws(ClientError) -> Frame? {
    while true {
      if let frame = try takeFrame() { return frame }
      let (count, code) = try receiveBytes()
      if count < 0, code == EAGAIN { return nil }
      if count <= 0 { try waitToReceive(after: count, code, until: Deadline(after: .zero)) }
    }
  }

  /// Returns the next message among the bytes that were received.
  private func takeFrame() throws(ClientError) -> Frame? {
    do { return try reader.next() } catch { throw .protocolViolation(error.reason) }
  }

  /// Receives bytes without a wait, and returns the result of recv(2) and its error number.
  private func receiveBytes() throws(ClientError) -> (count: Int, code: Int32) {
    var code: Int32 = 0
    let count = scratch.withMutableBytes { bytes in
      // The pointer is valid during the call, which writes no more than the buffer's count.
      let result = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket.number, $0.baseAddress, $0.count, 0) }
      code = errno
      return result
    }
    guard count > 0 else { return (count, code) }
    hasHeard = true
    defer { scratch.wipe(0..<count) }
    do {
      try scratch.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(0..<count)) }
    } catch {
      throw .protocolViolation(error.reason)
    }
    return (count, 0)
  }

  /// Waits for the next bytes after a recv(2) that returned none.
  ///
  /// - Parameters:
  ///   - count: the return value of recv(2).
  ///   - code: the error number of recv(2).
  /// - Throws: ``ClientError/disconnected`` when no more bytes will come.
  func waitToReceive(after count: Int, _ code: Int32, until deadline: Deadline) throws(ClientError) {
    guard count < 0 else { throw .disconnected }
    switch code {
    case EINTR: return
    case EAGAIN: try wait(for: POLLIN, until: deadline)
    case ECONNRESET:
      // When the peer closes its socket with unread bytes in it, recv(2) reports ECONNRESET and not the end. Only Linux
      // does this (unix_release_sock), and the last byte of a request is read last.
      if !hasHeard { mayHaveArrived = false }
      throw .disconnected
    default: throw .system("recv", errno: code)
    }
  }

  /// Waits until the socket is ready.
  ///
  /// - Throws: ``ClientError/timedOut`` at the deadline, or earlier if the daemon gives no sign of life.
  func wait(for event: Int32, until deadline: Deadline) throws(ClientError) {
    guard let signOfLife else {
      return try Connection.wait(for: event, on: socket.number, until: deadline, interrupt, cancellation)
    }
    while true {
      do throws(ClientError) {
        let next = deadline.orAfter(signOfLife.pause)
        return try Connection.wait(for: event, on: socket.number, until: next, interrupt, cancellation)
      } catch {
        guard error == .timedOut, !deadline.hasPassed else { throw error }
      }
      try signOfLife.check(interrupt, cancellation)
    }
  }

  /// Waits for `duration`, unless the interrupt or the cancellation ends it.
  func pause(_ duration: Duration) throws(ClientError) {
    if duration > .zero {
      try Connection.wait(for: 0, on: nil, until: Deadline(after: duration), interrupt, cancellation)
    }
  }

  /// Waits until `descriptor` is ready, or, without one, until the deadline.
  private static func wait(
    for event: Int32, on descriptor: Int32?, until deadline: Deadline, _ interrupt: Interrupt?,
    _ cancellation: Int32? = nil
  ) throws(ClientError) {
    var polled = [
      pollfd(fd: descriptor ?? -1, events: Int16(event), revents: 0),
      pollfd(fd: interrupt?.number ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: cancellation ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let ready = unsafe poll(&polled, 3, deadline.pollTimeout)
    if ready < 0, errno != EINTR { throw .system("poll", errno: errno) }
    if polled[1].revents != 0 { throw .disconnected }
    if polled[2].revents != 0 { throw .fault(.cancelled) }
    if ready == 0, descriptor != nil { throw .timedOut }
  }
}
