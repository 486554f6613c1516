internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultService

/// The socket of a channel, for what is sent and received without NIO's buffers.
///
/// NIO owns the descriptor: once it has closed it, when the channel is not active any more, the number may be another's,
/// and nothing is done here.
struct ClientSocket {
  private let channel: any Channel
  private let descriptor: CInt

  /// Call on the channel's loop.
  init(_ channel: any Channel) {
    self.channel = channel
    // Without a descriptor nothing can be done here, and NIO does it all.
    let pipeline = channel.pipeline.syncOperations
    descriptor = (try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }) ?? -1
  }

  /// The bytes that the socket took. None after an error, too: NIO will meet the same one, and act on it.
  func send(_ bytes: RawSpan) -> Int {
    guard channel.isActive else { return 0 }
    // The bytes are lent for the call.
    return unsafe bytes.withUnsafeBytes { bytes in
      max(0, unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }
  }

  /// About how many bytes it holds that the client has not taken: as much as they cost the kernel, some more than they are.
  func queuedCount() -> Int {
    guard channel.isActive else { return 0 }
    var count: Int32 = 0
    // It is lent for the call, which writes no more than its size.
    return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
  }

  /// The process that connected, as the kernel tells of it.
  func peer() throws(SystemError) -> Peer {
    var peer = vault_peer()
    try SystemError.check("SO_PEERCRED", unsafe vault_peer_credentials(descriptor, &peer))
    return Peer(uid: peer.uid, gid: peer.gid, pid: peer.pid)
  }

  /// The name that the other end is bound to, as it stands behind the address's family: it begins with a NUL where it is an
  /// abstract one. Nil where it has none.
  func peerName() -> [UInt8]? {
    guard channel.isActive else { return nil }
    return unsafe SocketName.bytes { unsafe getpeername(descriptor, $0, $1) }
  }

  /// A descriptor of the process that connected, which the caller closes. It fails with ENOPROTOOPT on a kernel that has none
  /// to give, and otherwise when the process is gone.
  func peerDescriptor() -> Result<Int32, SystemError> {
    guard channel.isActive else { return .failure(SystemError(call: "SO_PEERPIDFD", code: ESRCH)) }
    var process: Int32 = -1
    var count = socklen_t(MemoryLayout<Int32>.size)
    // The number of SO_PEERPIDFD, which glibc 2.36 has no name for.
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, 77, &process, &count)
    guard status == 0, process >= 0 else { return .failure(SystemError(call: "SO_PEERPIDFD")) }
    return .success(process)
  }

  /// The supplementary groups of the process that connected, as they were then; none where the kernel does not tell.
  func peerGroups() -> [gid_t] {
    guard channel.isActive else { return [] }
    var groups = [gid_t](repeating: 0, count: 32)
    while true {
      var count = socklen_t(groups.count * MemoryLayout<gid_t>.size)
      // The number of SO_PEERGROUPS, which glibc names under _GNU_SOURCE only.
      let status = unsafe getsockopt(descriptor, SOL_SOCKET, 59, &groups, &count)
      let found = Int(count) / MemoryLayout<gid_t>.size
      if status == 0 { return Array(groups.prefix(found)) }
      guard errno == ERANGE, found > groups.count else { return [] }
      groups = [gid_t](repeating: 0, count: found)
    }
  }

  /// Ends what is sent and received, also for other descriptors of the same socket. What was sent is still read.
  func shutDown() {
    if channel.isActive { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// To wait until it takes bytes, where no loop waits for it (poll(2)).
  var writable: pollfd { pollfd(fd: channel.isActive ? descriptor : -1, events: Int16(POLLOUT), revents: 0) }

  /// Lends the descriptor; nil where the socket is closed.
  func withDescriptor<R>(_ body: (CInt) -> R) -> R? { channel.isActive ? body(descriptor) : nil }

  /// Notes at the socket that it was sent something, which another process sees that gets a copy of it: nothing is read from it,
  /// so the fewest bytes that make it readable say nothing else (SO_RCVLOWAT, socket(7)).
  func markBegun() {
    var mark = Self.begun
    if channel.isActive {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// True where that was noted.
  var isBegun: Bool {
    var (mark, count): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    guard channel.isActive else { return false }
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, &count) == 0 && mark == Self.begun
  }

  private static let begun: Int32 = 2

  /// Another descriptor of the same socket, which stays connected when NIO closes its own.
  func duplicate() -> CInt? {
    guard channel.isActive else { return nil }
    let copy = vault_dup_above(descriptor, 0)
    return copy >= 0 ? copy : nil
  }

  /// Fills `bytes` with what has come, if anything has: how many there are. The end of the stream and errors are left to
  /// NIO, which meets them again.
  func receive(into bytes: inout MutableRawSpan) -> Int {
    guard channel.isActive else { return 0 }
    // Filled in place by the kernel.
    return unsafe bytes.withUnsafeMutableBytes { bytes in
      max(0, unsafe Glibc.recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT)))
    }
  }
}
