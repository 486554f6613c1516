internal import CLinux
internal import Glibc
internal import VaultService

/// A hold on the process that connected, so that another process that gets its pid is never mistaken for it.
///
/// From Linux 6.5 on the kernel gives a descriptor of the process that called connect(2) (`SO_PEERPIDFD`, socket(7)),
/// even after it has ended. An older kernel gives only the pid. A descriptor is then made from the pid, and the start
/// time that was seen at the accept tells the process from a later one. A process that took the pid over between the
/// connect and the accept cannot be told apart; see vault-security(7).
final class PeerProcess: Sendable {
  /// The pidfd, readable (poll(2)) once the process has ended.
  let descriptor: Int32
  /// The start time of the process, if the kernel gives only its pid: for ``init(_:started:)`` later.
  let started: UInt64?

  /// Takes hold of the process that connected; nil when it has been reaped, or nothing can be known about it.
  ///
  /// Call this at the accept, and later if ``started`` was nil then.
  convenience init?(at socket: ClientSocket, _ peer: Peer) {
    switch socket.peerDescriptor() {
    case .success(let handle): self.init(descriptor: handle, started: nil)
    case .failure(let error):
      guard error.code == ENOPROTOOPT, let started = Self.start(of: peer.pid) else { return nil }
      self.init(peer.pid, started: started)
    }
  }

  /// Takes hold of the process with this pid, if it has the start time that was seen at the accept.
  convenience init?(_ pid: pid_t, started: UInt64) {
    guard pid > 0 else { return nil }
    let handle = pidfd_open(pid, 0)
    guard handle >= 0 else { return nil }
    self.init(descriptor: handle, started: started)
    // The check comes now, because from here on no other process can take the pid unnoticed.
    guard Self.start(of: pid) == started else { return nil }
  }

  /// Takes over a pidfd, and closes it on deinit; nil unless the pidfd is of the process with this pid.
  convenience init?(taking descriptor: Int32, of pid: pid_t) {
    self.init(descriptor: descriptor, started: nil)
    let text = ProcFile.read("/proc/self/fdinfo/\(descriptor)").map { String(decoding: $0, as: UTF8.self) }
    guard let line = text?.split(separator: "\n").first(where: { $0.hasPrefix("Pid:") }),
      line.split(whereSeparator: \.isWhitespace).last.flatMap({ pid_t($0) }) == pid
    else { return nil }
  }

  private init(descriptor: Int32, started: UInt64?) {
    self.descriptor = descriptor
    self.started = started
  }

  deinit { close(descriptor) }

  /// True while the process runs. A zombie does not run: only its pid is left.
  var isAlive: Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) == 0
  }

  /// The time at which a process started, in clock ticks since boot: field 22 of `/proc/PID/stat`. Field 2 is a name
  /// that may contain anything and ends with the last parenthesis.
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

  /// The effective uid of a process, from `/proc/PID/status`. The kernel reports the same uid for a process that
  /// connects.
  static func uid(of pid: pid_t) -> uid_t? { effective("Uid:", of: pid) }

  /// The effective group of a process.
  static func gid(of pid: pid_t) -> gid_t? { effective("Gid:", of: pid) }

  /// Returns the effective id in a line of `/proc/PID/status`. Bytes are compared, because characters take ten times as
  /// long.
  private static func effective(_ name: String, of pid: pid_t) -> UInt32? {
    guard let text = TextFile.read("/proc/\(pid)/status", limit: 16 << 10) else { return nil }
    let line = text.utf8.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
    let words = line?.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return words?.dropFirst(2).first.flatMap { UInt32(Substring($0)) }
  }
}
