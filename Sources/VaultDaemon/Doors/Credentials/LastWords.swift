internal import CLinux
internal import Glibc
internal import NIOCore

/// The last bytes that the daemon sends to waiting service managers when it ends. They go to all of them at once,
/// without the event loop, which has stopped.
///
/// A unit starts with the bytes that arrive until its connection ends. So the daemon does not exit before each
/// connection has more bytes than a credential may have, or the time is up.
struct LastWords {
  private var owed: [(socket: ClientSocket, sent: Int)]

  init(to sockets: [ClientSocket]) { owed = sockets.map { ($0, 0) } }

  /// Sends for at most this many milliseconds.
  mutating func send(within milliseconds: Int64, now: () -> Int64) {
    let end = now() + milliseconds * 1_000_000
    sendWhatIsTaken()
    while !owed.isEmpty {
      let left = (end - now()) / 1_000_000
      guard left > 0 else { return }
      var polled = owed.map(\.socket.writable)
      _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: left))
      // A manager that has hung up is owed nothing.
      for index in polled.indices.reversed() where polled[index].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
        owed.remove(at: index)
      }
      sendWhatIsTaken()
    }
  }

  private mutating func sendWhatIsTaken() {
    // The bytes are valid for the call.
    unsafe Overflow.buffer.withUnsafeReadableBytes { bytes in
      let all = unsafe RawSpan(_unsafeBytes: bytes)
      for index in owed.indices.reversed() {
        while owed[index].sent < all.byteCount {
          let count = owed[index].socket.send(all.extracting(droppingFirst: owed[index].sent))
          if count == 0 { break }
          owed[index].sent += count
        }
        if owed[index].sent == all.byteCount {
          owed[index].socket.shutDown()
          owed.remove(at: index)
        }
      }
    }
  }
}
