internal import CLinux
internal import Glibc
internal import NIOCore

/// What the daemon still owes service managers at its end, sent to all of them at once: no loop runs any more.
///
/// A unit is started with what it got until its connection ends. So the daemon does not end before each has more than a credential
/// may have, or the time is up.
struct LastWords {
  private var owed: [(socket: ClientSocket, sent: Int)]

  init(to sockets: [ClientSocket]) { owed = sockets.map { ($0, 0) } }

  /// Sends for so many milliseconds at most.
  mutating func send(within milliseconds: Int64, now: () -> Int64) {
    let end = now() + milliseconds * 1_000_000
    sendWhatIsTaken()
    while !owed.isEmpty {
      let left = (end - now()) / 1_000_000
      guard left > 0 else { return }
      var polled = owed.map(\.socket.writable)
      _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: left))
      // One that has hung up is owed nothing.
      for index in polled.indices.reversed() where polled[index].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
        owed.remove(at: index)
      }
      sendWhatIsTaken()
    }
  }

  private mutating func sendWhatIsTaken() {
    // The bytes are lent for the call.
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
