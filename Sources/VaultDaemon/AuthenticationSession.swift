internal import Glibc

/// The scope of a proof of presence: one session of processes (`setsid(2)`), such as all that runs in one terminal.
///
/// A process can leave its session for a new one but never enter another's, so what was proven in one terminal opens
/// nothing for another terminal, a service or a cron job. The leader's start time tells the session from a later one
/// that got the same number. It is the rule of sudo's tickets.
///
/// Where nothing tells the session from another one, a proof counts for the one process: when the leader has ended, which
/// a session can outlive, and in a container whose session was begun outside, where the kernel shows 0 in its place.
struct AuthenticationSession: Hashable, Sendable {
  enum Scope: Hashable, Sendable {
    /// The session that this process leads.
    case session
    /// This process alone.
    case process
  }

  var uid: uid_t
  var scope: Scope
  var pid: pid_t
  /// The time at which that process started, in clock ticks since boot.
  var started: UInt64

  /// The session of a connected process; nil when it has ended.
  init?(of peer: Peer, _ process: PeerProcess) {
    guard peer.pid > 0, let own = PeerProcess.start(of: peer.pid) else { return nil }
    let leader = getsid(peer.pid)
    uid = peer.uid
    if leader > 0, let start = PeerProcess.start(of: leader), getsid(peer.pid) == leader {
      // In that session before and after, so in between no other leader had its number.
      (scope, pid, started) = (.session, leader, start)
    } else {
      (scope, pid, started) = (.process, peer.pid, own)
    }
    // The number was its own all the time if it still runs.
    guard process.isAlive else { return nil }
  }
}
