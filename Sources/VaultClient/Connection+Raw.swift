internal import CLinux
internal import Glibc
internal import VaultWire

// What follows where Varlink ends on a connection: bytes as they are, and at last one more message.
extension Connection {
  /// Ends the frames: what has come behind the last one is the first of what ``receive(into:until:)`` gives.
  func endFrames() { rest = reader.takeRest() }

  /// Begins frames again.
  func beginFrames() throws(ClientError) {
    do {
      try rest.withBytes { bytes throws(FrameError) in try reader.append(bytes) }
    } catch {
      throw .protocolViolation("\(error)")
    }
    rest.removeAll()
  }

  /// Fills `bytes`. Throws ``ClientError/disconnected`` when the daemon hangs up first.
  func receive(into bytes: inout MutableRawSpan, until deadline: Deadline) throws(ClientError) {
    var done = takeRest(into: &bytes)
    while done < bytes.byteCount {
      // Lent for the call, which writes no further than their end.
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
        // Both have that many bytes.
        bytes.storeBytes(
          of: unsafe rest.unsafeLoad(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
      }
    }
    rest.removeFirst(count)
    return count
  }

  /// Sends `bytes`; false when the daemon has answered before it had all of them, or has hung up.
  func send(raw bytes: RawSpan, until deadline: Deadline) throws(ClientError) -> Bool {
    var done = 0
    // It may have come along with the answer that asked for the bytes.
    if reader.pendingCount > 0 { return false }
    while done < bytes.byteCount {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        // Lent for the call, which only reads.
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
        // Nothing but the last word comes from the other side.
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

  /// Says that nothing more is sent.
  func finishSending() { shutdown(socket.number, Int32(SHUT_WR)) }
}
