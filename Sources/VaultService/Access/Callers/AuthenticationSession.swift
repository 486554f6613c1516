package import Glibc

/// The scope of a proof of presence: one session of processes (`setsid(2)`), such as all processes of one terminal.
///
/// A process can leave its session for a new one but can never enter another session. So a proof in one terminal opens
/// nothing for another terminal, a service or a cron job. The leader's start time tells the session from a later one
/// with the same number. The tickets of sudo follow the same rule.
///
/// If nothing tells the session from another one, a proof counts for the one process alone. That is so when the leader
/// has ended, which a session can outlive, and in a container whose session was begun outside, where the kernel shows 0
/// as the session's number.
package struct AuthenticationSession: Hashable, Sendable {
  package enum Scope: Hashable, Sendable {
    /// The session that this process leads.
    case session
    /// This process alone.
    case process
    /// The callers on other hosts whose requests come over this way (``ForwardedWay``), through an ssh-agent that this
    /// process, or its session, forwards.
    case forwardedAgent(ForwardedWay)
  }

  package var uid: uid_t
  package var scope: Scope
  package var pid: pid_t
  /// The start time of process `pid`, in clock ticks since boot.
  package var started: UInt64

  package init(uid: uid_t, scope: Scope, pid: pid_t, started: UInt64) {
    (self.uid, self.scope, self.pid, self.started) = (uid, scope, pid, started)
  }
}
