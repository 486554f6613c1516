internal import CLinux
internal import Glibc
public import VaultWire

/// One connection to a daemon that was checked, used by one thread at a time.
///
/// Everything on it has a time limit except what the caller asks to wait for. A connection that failed in any way is
/// of no further use. Writes never raise SIGPIPE.
public final class Connection {
  /// The time that an answer may take that needs no waiting.
  public static let defaultTimeout = Duration.seconds(30)
  /// The time to try while nobody listens, as when the daemon restarts.
  public static let defaultPatience = Duration.seconds(2)
  private static let chunk = 16 << 10

  let socket: Descriptor
  private let interrupt: Interrupt?
  /// A descriptor whose readiness ends all waiting, with ``Fault/cancelled``.
  var cancellation: Int32?
  /// The check of a daemon that is silent for long; nil where only the deadline counts.
  var signOfLife: SignOfLife?
  var reader = FrameReader()
  /// The bytes behind the last frame, where other bytes than frames follow.
  var rest = SecretBuffer()
  private var scratch = SecretBuffer()
  /// True when any byte of the answer to the last request has come.
  private(set) var hasHeard = false
  /// False when the daemon cannot have had the whole of the last request, and so has not done it: it went away before all
  /// was sent, or with a part still unread.
  private(set) var mayHaveArrived = false

  /// Checks who listens at `location` and connects.
  ///
  /// While nobody listens it tries again until `patience` is over; then it throws ``ClientError/noDaemon(_:)``.
  /// Throws ``ClientError/unsafeSocket(_:)`` at once when the directory, the socket or its owner is not what it
  /// should be.
  public convenience init(
    to location: SocketLocation, patience: Duration = Connection.defaultPatience
  ) throws(ClientError) {
    try self.init(to: location, patience: patience, interrupt: nil)
  }

  /// `retrying` is called before each wait for a daemon that is not there.
  init(
    to location: SocketLocation, patience: Duration, interrupt: Interrupt?, retrying: () -> Void = {}
  ) throws(ClientError) {
    let deadline = Deadline(after: patience)
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
      // Waiting, or starting one, would not help.
      if !busy, let problem = location.problem { throw .impossibleSocket(problem, remedy: location.remedy) }
      if deadline.hasPassed { throw busy ? .timedOut : .noDaemon(location.path) }
      retrying()
      try Connection.wait(for: 0, on: nil, until: deadline.orAfter(pause), interrupt)
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Calls `method` with the parameters that `parameters` writes, one object, and gives the frame of its one reply.
  ///
  /// ``Vault`` has a typed function for every method and makes new connections where needed; this is for what it
  /// leaves open. Throws ``ClientError``, an error of the daemon as ``ClientError/fault(_:)``.
  public func call(
    _ method: MethodName, timeout: Duration? = Connection.defaultTimeout, parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> Frame {
    let response = try exchange(try KeptConnection.message(method, more: false, parameters), Deadline(after: timeout))
    return response.frame
  }

  /// Sends one call and takes its one reply.
  func exchange(_ message: borrowing SecretBuffer, _ deadline: Deadline) throws(ClientError) -> Response {
    try send(message, until: deadline)
    let response = try Response(from: self, until: deadline)
    if response.reply.continues { throw .protocolViolation("more replies than asked for") }
    return response
  }

  /// True when the daemon has hung up meanwhile, or sent what nobody asked for.
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
        // Lent for the call, which only reads.
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
      // The daemon may have said why before it hung up, so the reading decides.
      case EPIPE, ECONNRESET: return
      default: throw .system("send", errno: errno)
      }
    }
    mayHaveArrived = true
  }

  /// The next message, waiting for it until `deadline`.
  ///
  /// Throws ``ClientError/disconnected`` when the daemon hangs up first, ``ClientError/timedOut``, and
  /// ``ClientError/protocolViolation(_:)`` for bytes that are no frame or a frame above 2 MiB.
  func receive(until deadline: Deadline) throws(ClientError) -> Frame {
    while true {
      do {
        if let frame = try reader.next() { return frame }
      } catch {
        throw .protocolViolation("\(error)")
      }
      var code: Int32 = 0
      let count = scratch.withMutableBytes { bytes in
        // Lent for the call, which writes at most their count.
        let result = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket.number, $0.baseAddress, $0.count, 0) }
        code = errno
        return result
      }
      guard count > 0 else {
        try waitToReceive(after: count, code, until: deadline)
        continue
      }
      hasHeard = true
      defer { scratch.wipe(0..<count) }
      do {
        try scratch.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(0..<count)) }
      } catch {
        throw .protocolViolation("\(error)")
      }
    }
  }

  /// Waits for the next bytes after a recv(2) that gave none: what it returned, and its error's number.
  ///
  /// Throws ``ClientError/disconnected`` when there will be no more.
  func waitToReceive(after count: Int, _ code: Int32, until deadline: Deadline) throws(ClientError) {
    guard count < 0 else { throw .disconnected }
    switch code {
    case EINTR: return
    case EAGAIN: try wait(for: POLLIN, until: deadline)
    case ECONNRESET:
      // A socket's peer is told so, and not of an end, when it is closed with something in it that was not read. Linux
      // alone does this (unix_release_sock), and the last byte of a request is what is read last.
      if !hasHeard { mayHaveArrived = false }
      throw .disconnected
    default: throw .system("recv", errno: code)
    }
  }

  /// Waits until the socket is ready. Throws ``ClientError/timedOut`` at the deadline, and sooner where the daemon
  /// gives no sign of life.
  func wait(for event: Int32, until deadline: Deadline) throws(ClientError) {
    guard let signOfLife else {
      return try Connection.wait(for: event, on: socket.number, until: deadline, interrupt, cancellation)
    }
    while true {
      do throws(ClientError) {
        let next = deadline.orAfter(signOfLife.half)
        return try Connection.wait(for: event, on: socket.number, until: next, interrupt, cancellation)
      } catch {
        guard error == .timedOut, !deadline.hasPassed else { throw error }
      }
      try signOfLife.check(interrupt, cancellation)
    }
  }

  /// Waits for so long, unless something ends all waiting.
  func pause(_ duration: Duration) throws(ClientError) {
    if duration > .zero {
      try Connection.wait(for: 0, on: nil, until: Deadline(after: duration), interrupt, cancellation)
    }
  }

  /// Waits until `descriptor` is ready, or only for the time to pass when there is none.
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
