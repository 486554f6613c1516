internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultService

/// The socket of a channel, for bytes that are sent and received without NIO's buffers.
///
/// NIO owns the descriptor. After NIO has closed it, the channel is not active any more and the number may belong to
/// another file, so nothing is done here then.
struct ClientSocket {
  private let channel: any Channel
  private let descriptor: CInt

  /// Makes the socket of `channel`. Call this on the channel's loop.
  init(_ channel: any Channel) {
    self.channel = channel
    // Without a descriptor nothing can be done here, and NIO does everything.
    let pipeline = channel.pipeline.syncOperations
    descriptor = (try? pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }) ?? -1
  }

  /// Sends bytes; returns the number that the socket took. That is 0 after an error, too, because NIO will meet the
  /// same error and handle it.
  func send(_ bytes: RawSpan) -> Int {
    guard channel.isActive else { return 0 }
    // The bytes are valid for the call.
    return unsafe bytes.withUnsafeBytes { bytes in
      max(0, unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)))
    }
  }

  /// The approximate number of bytes in the socket that the client has not taken. The kernel counts the memory that the
  /// bytes cost, which is a little more than their number.
  func queuedCount() -> Int {
    guard channel.isActive else { return 0 }
    var count: Int32 = 0
    // The variable is valid for the call, which writes no more than its size.
    return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
  }

  /// The process that connected, as the kernel reports it.
  func peer() throws(SystemError) -> Peer {
    var peer = vault_peer()
    try SystemError.check("SO_PEERCRED", unsafe vault_peer_credentials(descriptor, &peer))
    return Peer(uid: peer.uid, gid: peer.gid, pid: peer.pid)
  }

  /// The name that the other end is bound to, without the address's family. An abstract name begins with a NUL. Nil
  /// when there is no name.
  func peerName() -> [UInt8]? {
    guard channel.isActive else { return nil }
    return unsafe SocketName.bytes { unsafe getpeername(descriptor, $0, $1) }
  }

  /// A pidfd of the process that connected, which the caller must close. Fails with ENOPROTOOPT on a kernel without
  /// this feature, and otherwise when the process is gone.
  func peerDescriptor() -> Result<Int32, SystemError> {
    guard channel.isActive else { return .failure(SystemError(call: "SO_PEERPIDFD", code: ESRCH)) }
    var process: Int32 = -1
    var count = socklen_t(MemoryLayout<Int32>.size)
    // The number of SO_PEERPIDFD, for which glibc 2.36 has no name.
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, 77, &process, &count)
    guard status == 0, process >= 0 else { return .failure(SystemError(call: "SO_PEERPIDFD")) }
    return .success(process)
  }

  /// The number of supplementary groups that count. A process can have 65,536, which would take the daemon's memory for
  /// each connection, and its time for each decision.
  private static let mostGroups = 1024

  /// The supplementary groups that the process had when it connected, at most ``mostGroups``: those with the lowest
  /// numbers. Empty when the kernel does not report them.
  func peerGroups() -> [gid_t] {
    guard channel.isActive else { return [] }
    var groups = [gid_t](repeating: 0, count: 32)
    while true {
      var count = socklen_t(groups.count * MemoryLayout<gid_t>.size)
      // The number of SO_PEERGROUPS, which glibc names only under _GNU_SOURCE.
      let status = unsafe getsockopt(descriptor, SOL_SOCKET, 59, &groups, &count)
      let found = Int(count) / MemoryLayout<gid_t>.size
      if status == 0 { return Array(groups.prefix(min(found, Self.mostGroups))) }
      guard errno == ERANGE, found > groups.count else { return [] }
      groups = [gid_t](repeating: 0, count: found)
    }
  }

  /// Ends sending and receiving, for other descriptors of the same socket too. The client can still read bytes that
  /// were sent.
  func shutDown() {
    if channel.isActive { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// Lends the descriptor; nil when the socket is closed.
  func withDescriptor<R>(_ body: (CInt) -> R) -> R? { channel.isActive ? body(descriptor) : nil }

  /// Marks the socket as one to which bytes were sent. Another process that gets a copy of the socket sees the mark.
  /// The mark is the smallest number of bytes that makes the socket readable (SO_RCVLOWAT, socket(7)), which has no
  /// other effect because nothing is read from this socket.
  func markBegun() {
    var mark = Self.begun
    if channel.isActive {
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// True when the socket carries the mark.
  var isBegun: Bool {
    var (mark, count): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    guard channel.isActive else { return false }
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, &count) == 0 && mark == Self.begun
  }

  private static let begun: Int32 = 2

  /// True when the other end sends no more, although bytes that it has sent may be left.
  var isFinished: Bool {
    guard channel.isActive else { return false }
    var polled = pollfd(fd: descriptor, events: Int16(VAULT_POLLRDHUP), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0
  }

  /// Another descriptor of the same socket, which stays connected when NIO closes its own.
  func duplicate() -> CInt? {
    guard channel.isActive else { return nil }
    let copy = vault_dup_above(descriptor, 0)
    return copy >= 0 ? copy : nil
  }

  /// Fills `bytes` with the bytes that have come; returns their number. The end of the stream and errors are left to
  /// NIO, which meets them again.
  ///
  /// - Parameter peeks: true to leave the bytes in the socket.
  func receive(into bytes: inout MutableRawSpan, peeks: Bool = false) -> Int {
    guard channel.isActive else { return 0 }
    let flags = Int32(MSG_DONTWAIT) | (peeks ? Int32(MSG_PEEK) : 0)
    // The kernel fills the memory in place.
    return unsafe bytes.withUnsafeMutableBytes { bytes in
      max(0, unsafe Glibc.recv(descriptor, bytes.baseAddress, bytes.count, flags))
    }
  }
}
