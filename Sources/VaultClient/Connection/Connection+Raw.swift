internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultWire

// The part of a connection after the Varlink messages: raw bytes, and at the end one more message.
extension Connection {
  /// Ends the frames: bytes that arrived after the last frame are the first that ``receive(into:until:)`` returns.
  func endFrames() { rest = reader.takeRest() }

  /// Begins frames again.
  func beginFrames() throws(ClientError) {
    do {
      try rest.withBytes { bytes throws(FrameError) in try reader.append(bytes) }
    } catch {
      throw .protocolViolation(error.reason)
    }
    rest.removeAll()
  }

  /// Fills `bytes`.
  ///
  /// - Throws: ``ClientError/disconnected`` when the daemon hangs up first.
  func receive(into bytes: inout MutableRawSpan, until deadline: Deadline) throws(ClientError) {
    var done = takeRest(into: &bytes)
    while done < bytes.byteCount {
      // The pointer is valid during the call, and recv(2) writes no further than the end of the bytes.
      let count = unsafe bytes.withUnsafeMutableBytes { bytes in
        unsafe recv(socket.number, bytes.baseAddress!.advanced(by: done), bytes.count - done, 0)
      }
      let code = errno
      if count > 0 { done += count } else { try waitToReceive(after: count, code, until: deadline) }
    }
  }

  private func takeRest(into bytes: inout MutableRawSpan) -> Int {
    let count = min(rest.count, bytes.byteCount)
    guard count > 0 else { return 0 }
    rest.withBytes { rest in
      for offset in 0..<count {
        // `rest` and `bytes` each have at least `count` bytes.
        bytes.storeBytes(
          of: unsafe rest.unsafeLoad(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
      }
    }
    rest.removeFirst(count)
    return count
  }

  /// Sends `bytes`; false when the daemon answers before it has all of them, or hangs up.
  func send(raw bytes: RawSpan, until deadline: Deadline) throws(ClientError) -> Bool {
    var done = 0
    // The daemon's answer may have arrived together with the reply that asked for the bytes.
    if reader.pendingCount > 0 { return false }
    while done < bytes.byteCount {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        // The pointer is valid during the call, which only reads.
        unsafe Glibc.send(
          socket.number, bytes.baseAddress!.advanced(by: done), bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        done += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        try wait(for: POLLOUT | POLLIN, until: deadline)
        // The only message that can arrive here is the last reply.
        if hasAnswer { return false }
      case EPIPE, ECONNRESET: return false
      default: throw .system("send", errno: errno)
      }
    }
    return true
  }

  private var hasAnswer: Bool {
    var polled = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0
  }

  /// Ends the sending direction of the connection.
  func finishSending() { shutdown(socket.number, Int32(SHUT_WR)) }
}
