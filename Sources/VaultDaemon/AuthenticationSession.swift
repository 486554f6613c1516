internal import Glibc

/// What a proof of presence counts for: one session of processes (`setsid(2)`), such as all that runs in one terminal.
///
/// A process can leave its session for a new one but never enter another's, so what was proven in one terminal opens
/// nothing for another terminal, a service or a cron job. The leader's start time tells the session from a later one
/// that got the same number. It is the rule of sudo's tickets.
///
/// In a container the session may be one that was begun outside. The kernel then shows 0 in place of its leader, which
/// would make one session of all that comes from outside; a proof counts for the one process instead.
struct AuthenticationSession: Hashable, Sendable {
  var uid: uid_t
  /// The process that began it, or the connected process where that one cannot be seen.
  var leader: pid_t
  /// Clock ticks since boot; 0 when the leader has ended, which a session can outlive.
  var started: UInt64

  /// The session of a connected process; nil when it has ended, or started after it connected, so that its number is
  /// another process's by now.
  ///
  /// - Parameter connected: when it connected, `CLOCK_BOOTTIME` nanoseconds.
  init?(of peer: Peer, connected: Int64) {
    let session = getsid(peer.pid)
    guard session >= 0, let process = Self.start(of: peer.pid) else { return nil }
    let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
    guard ticks > 0, Int64(process) <= connected / (1_000_000_000 / ticks) else { return nil }
    uid = peer.uid
    leader = session > 0 ? session : peer.pid
    started = session > 0 ? Self.start(of: session) ?? 0 : process
  }

  /// The start time in `/proc/PID/stat`, its 22nd field; the second one is a name that may hold anything but ends with
  /// the last parenthesis.
  private static func start(of pid: pid_t) -> UInt64? {
    guard let text = TextFile.read("/proc/\(pid)/stat", limit: 4096), let name = text.lastIndex(of: ")") else {
      return nil
    }
    let fields = text[name...].split(separator: " ")
    return fields.count > 20 ? UInt64(fields[20]) : nil
  }
}
