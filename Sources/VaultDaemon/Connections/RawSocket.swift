internal import CLinux
internal import Glibc
internal import VaultService

/// A client's socket that was taken from the loop, for a thread that may wait for the client.
///
/// The socket is closed on deinit. Any thread may call ``callOff()``; everything else is for one thread at a time.
final class RawSocket: Sendable {
  /// The reason why the socket cannot be used any more.
  enum Problem: Error, Equatable {
    /// A call of ``RawSocket/callOff()`` ended the transfer.
    case calledOff
    /// The process that connected has ended, even if another process still holds its end of the socket.
    case disowned
    /// The client closed its side.
    case gone
    /// The client took or sent nothing within the time for the next bytes.
    case silent
    /// The client did not keep pace.
    case tooSlow
    case failed(SystemError)
  }

  private let descriptor: Int32
  private let stop: Int32
  private let process: PeerProcess?
  /// The time that the client has for the next bytes, in milliseconds.
  private let patience: Int32

  /// Takes over a connected socket. Its other end belongs to `process`; nil if it does not matter whether that process
  /// runs.
  init(_ descriptor: Int32, of process: PeerProcess?, patience: Int32) throws(SystemError) {
    self.descriptor = descriptor
    self.process = process
    self.patience = patience
    stop = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if stop < 0 { throw SystemError(call: "eventfd") }
  }

  deinit {
    close(descriptor)
    if stop >= 0 { close(stop) }
  }

  /// True while the process that connected runs.
  var isPeerAlive: Bool { process?.isAlive ?? true }

  /// The reason why no answer reaches the client any more: its process has ended, or its end of the socket is closed.
  /// Nil while an answer may reach the client. A client that has only finished sending still takes answers.
  var departure: Problem? {
    guard isPeerAlive else { return .disowned }
    var polled = pollfd(fd: descriptor, events: 0, revents: 0)
    guard unsafe poll(&polled, 1, 0) > 0 else { return nil }
    return polled.revents & Int16(POLLHUP | POLLERR) != 0 ? .gone : nil
  }

  /// Ends all present and later waits.
  func callOff() { eventfd_write(stop, 1) }

  /// Sends the bytes from `start` on. After an error, `start` is the place where sending stopped.
  ///
  /// - Parameters:
  ///   - pace: the pace that the client must keep.
  ///   - patience: replaces the usual patience, in milliseconds.
  ///   - heedsCallOff: false to continue after ``callOff()``, or after the end of the client's process.
  func send(
    _ bytes: RawSpan, from start: inout Int, pace: Pace? = nil, patience: Int32? = nil, heedsCallOff: Bool = true
  ) throws(Problem) {
    try check(heedsCallOff)
    while start < bytes.byteCount {
      // The bytes are valid for the call.
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(
          descriptor, bytes.baseAddress!.advanced(by: start), bytes.count - start, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count >= 0 {
        start += count
        pace?.move(count)
      } else {
        try wait(for: POLLOUT, after: errno, pace, patience ?? self.patience, heedsCallOff)
      }
    }
  }

  /// Fills `bytes`.
  ///
  /// - Parameter patience: replaces the usual patience, in milliseconds.
  func receive(into bytes: inout MutableRawSpan, pace: Pace? = nil, patience: Int32? = nil) throws(Problem) {
    try check(true)
    var done = 0
    while done < bytes.byteCount {
      let count = receive(into: &bytes, from: done)
      if count == 0 { throw .gone }
      if count > 0 {
        done += count
        pace?.move(count)
      } else {
        try wait(for: POLLIN, after: errno, pace, patience ?? self.patience, true)
      }
    }
  }

  /// Waits for the client's next step; returns true when the client closes its side, and false when it sends more.
  func isAtEnd() throws(Problem) -> Bool {
    var byte: [UInt8] = [0]
    var span = byte.mutableSpan
    var bytes = unsafe span.mutableBytes  // A byte has no padding.
    while true {
      let count = receive(into: &bytes, from: 0)
      if count >= 0 { return count == 0 }
      try wait(for: POLLIN, after: errno, nil, patience, true)
    }
  }

  private func receive(into bytes: inout MutableRawSpan, from start: Int) -> Int {
    // The kernel fills the memory in place.
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe recv(descriptor, bytes.baseAddress!.advanced(by: start), bytes.count - start, Int32(MSG_DONTWAIT))
    }
  }

  private func check(_ heedsCallOff: Bool) throws(Problem) {
    guard heedsCallOff else { return }
    var polled = [pollfd(fd: stop, events: Int16(POLLIN), revents: 0), ofProcess]
    guard unsafe poll(&polled, 2, 0) > 0 else { return }
    throw polled[0].revents != 0 ? .calledOff : .disowned
  }

  /// The poll(2) argument that reports the end of the process; without a process it reports nothing.
  private var ofProcess: pollfd { pollfd(fd: process?.descriptor ?? -1, events: Int16(POLLIN), revents: 0) }

  /// Waits until the call that failed with `code` can continue.
  private func wait(
    for event: Int32, after code: Int32, _ pace: Pace?, _ patience: Int32, _ heedsCallOff: Bool
  ) throws(Problem) {
    switch code {
    case EINTR: return
    case EAGAIN: break
    case EPIPE, ECONNRESET: throw .gone
    default: throw .failed(SystemError(call: "socket", code: code))
    }
    var polled = [
      pollfd(fd: descriptor, events: Int16(event), revents: 0),
      pollfd(fd: heedsCallOff ? stop : -1, events: Int16(POLLIN), revents: 0),
    ]
    if heedsCallOff { polled.append(ofProcess) }
    let left = try pace?.milliseconds(patience) ?? patience
    let ready = unsafe poll(&polled, nfds_t(polled.count), left)
    if ready < 0, errno != EINTR { throw .failed(SystemError(call: "poll")) }
    if ready == 0 {
      // If the pace allowed less time than the patience, this throws `tooSlow`.
      _ = try pace?.milliseconds(patience)
      throw .silent
    }
    if polled[1].revents != 0 { throw .calledOff }
    if polled.count > 2, polled[2].revents != 0 { throw .disowned }
  }
}
