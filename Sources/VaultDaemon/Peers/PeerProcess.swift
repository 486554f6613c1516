internal import CLinux
internal import Glibc
internal import VaultService

/// A hold on the process that connected: another process that gets its number is never taken for it.
///
/// From Linux 6.5 on the kernel hands out a descriptor of the process that called connect(2) (`SO_PEERPIDFD`, socket(7)),
/// also after it has ended. An older kernel gives the number alone. A descriptor is then made from that, and the start time
/// that was seen when the connection was accepted tells the process from a later one; one that took the number over
/// between the connect and the accept is not told from it, see vault-security(7).
final class PeerProcess: Sendable {
  /// Readable (poll(2)) once the process has ended.
  let descriptor: Int32
  /// The time at which the process had started, where the kernel tells its number alone: for ``init(_:started:)``
  /// later.
  let started: UInt64?

  /// Takes hold of the process that connected; nil when it has been reaped, or nothing can be known of it.
  ///
  /// Call it at the accept, and later where ``started`` was nil then.
  convenience init?(at socket: ClientSocket, _ peer: Peer) {
    switch socket.peerDescriptor() {
    case .success(let handle): self.init(descriptor: handle, started: nil)
    case .failure(let error):
      guard error.code == ENOPROTOOPT, let started = Self.start(of: peer.pid) else { return nil }
      self.init(peer.pid, started: started)
    }
  }

  /// Takes hold of the process of that number if it had started then, as was seen at the accept.
  convenience init?(_ pid: pid_t, started: UInt64) {
    guard pid > 0 else { return nil }
    let handle = pidfd_open(pid, 0)
    guard handle >= 0 else { return nil }
    self.init(descriptor: handle, started: started)
    // Only now, because from here on no other process has the number unseen.
    guard Self.start(of: pid) == started else { return nil }
  }

  private init(descriptor: Int32, started: UInt64?) {
    self.descriptor = descriptor
    self.started = started
  }

  deinit { close(descriptor) }

  /// True when it runs. A zombie does not: it has nothing left but its number.
  var isAlive: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) == 0
  }

  /// The time at which a process started, in clock ticks since boot: the 22nd field of `/proc/PID/stat`, whose second
  /// one is a name that may hold anything but ends with the last parenthesis.
  static func start(of pid: pid_t) -> UInt64? {
    guard let text = ProcFile.read("/proc/\(pid)/stat"), let name = text.lastIndex(of: UInt8(ascii: ")")) else {
      return nil
    }
    var field = text[name...]
    for _ in 0..<20 {
      guard let space = field.firstIndex(of: UInt8(ascii: " ")) else { return nil }
      field = field[(space + 1)...]
    }
    return UInt64(String(decoding: field.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
  }

  /// The uid of a process, by `/proc/PID/status`: the effective one, which is what the kernel tells of who connected.
  static func uid(of pid: pid_t) -> uid_t? {
    guard let text = TextFile.read("/proc/\(pid)/status", limit: 16 << 10) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Uid:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst(2).first.flatMap { uid_t($0) }
  }
}
